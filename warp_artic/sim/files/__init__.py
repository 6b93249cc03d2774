"""Files: written whole or not at all, and read as far as a table says what each may hold."""
