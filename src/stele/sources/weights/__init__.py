"""Checkpoints: fetching, converting and checking weights and settings."""
