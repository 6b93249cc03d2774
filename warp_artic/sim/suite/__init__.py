"""The dynamics suite of an articulation: mass matrix, Jacobian, forces, registered constraints."""
