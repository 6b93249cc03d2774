"""Other simulators for `warp-artic bench`: a folder that a Python without warp_artic can run as well."""
