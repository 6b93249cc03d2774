"""Arrays of a simulation by name: rows of its groups, tables of them, views, and whom they say has stopped."""
