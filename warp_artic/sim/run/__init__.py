"""A run: how a scene is laid out in it, what it refuses, and how its steps are made."""
