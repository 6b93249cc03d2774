"""One joint type a file, each with the same two functions: where the joint places its link, and how it advances."""
