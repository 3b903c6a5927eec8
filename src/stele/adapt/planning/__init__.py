"""Planning of an adaptation: its documents, model sizes and configuration."""
