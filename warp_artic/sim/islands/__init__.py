"""Contacts of mechanisms that are too many to be one: what is found and solved before each step."""
