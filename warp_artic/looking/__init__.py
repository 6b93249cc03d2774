"""Looking at runs: reports, comparisons, pictures and a live view."""
