"""What an adaptation is to be: its documents, sizes and configuration."""
