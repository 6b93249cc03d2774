"""One constraint family a file: its law, and what it writes into its rows."""
