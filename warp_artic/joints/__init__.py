"""One joint type a file: where the joint places its link, how it advances, and the rates of its coordinates."""
