"""How phases become launches."""
