"""Numbers, vectors and spatial algebra as Warp functions, written once for every number type."""
