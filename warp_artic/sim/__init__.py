"""A run: load, step, reset, read back."""
