"""The device and what is launched on it: packed kernels, compiled ahead, or not launched where all sleeps."""
