"""Creates a user's own project from the installed package, outside any clone."""
