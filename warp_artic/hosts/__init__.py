"""Stepping backends for hosts of USD stages: what one offers, how it is found, and ours."""
