"""Elastic bodies on meshes, and the tendons on them."""
