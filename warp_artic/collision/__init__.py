"""Where two solids touch, or how far they are apart: one pair of kinds of shapes a file or section, for one column."""
