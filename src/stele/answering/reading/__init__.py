"""Answering of questions: windows of paragraphs, and the reader that finds answer spans in them."""
