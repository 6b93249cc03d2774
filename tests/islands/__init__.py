"""Contacts of mechanisms that are too many to be one."""
