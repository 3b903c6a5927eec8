"""Code that is shared by searches by terms and searches by vectors."""
