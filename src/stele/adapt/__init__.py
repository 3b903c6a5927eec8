"""Adapts an encoder to the user's own documents with one command, and judges whether retrieval improved."""
