"""What changes a run from outside: states and parameters that are written, kept and put back, or carried over."""
