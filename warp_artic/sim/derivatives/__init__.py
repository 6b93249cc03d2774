"""Derivatives of runs: the same steps on dual numbers, beside a run that stays as it is."""
