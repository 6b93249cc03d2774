"""The solvers of constraint rows: the row problem, its active-set loop, factors and sweeps."""
