"""Where two solids touch, or how far they are apart: kinds of pairs in closed form, and a search for all others."""
