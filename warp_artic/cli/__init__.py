"""The command `warp-artic`: arguments in, lines and exit codes out."""
