"""Commands on the papers' claims."""
