"""Stages to scenes, and recordings to layers; with `hosts`, the only package that knows USD."""
