"""A project of one's own, outside any clone."""
