"""What stands on the result card of a model."""
