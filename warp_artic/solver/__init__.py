"""Which phases run in a step, in which order, and how constraint rows are solved together."""
