"""How questions are answered: windows of paragraphs, and the reader that finds spans in them."""
