"""Checkpoints: converting and checking weights and settings."""
