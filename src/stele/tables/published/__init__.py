"""Our numbers beside those that others published of the same model and data."""
