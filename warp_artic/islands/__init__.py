"""Contacts between mechanisms of a large stage: found each step, and solved for each island of what touches."""
