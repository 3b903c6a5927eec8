"""Code that searches by terms and searches by vectors share."""
