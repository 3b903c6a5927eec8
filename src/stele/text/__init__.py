"""Split texts into sentences and into terms, by language."""
