"""Elastic bodies beside links: their steps, what they are given, and how links carry their nodes."""
