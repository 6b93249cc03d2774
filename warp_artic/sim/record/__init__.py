"""States of a run over time, as plain arrays."""
