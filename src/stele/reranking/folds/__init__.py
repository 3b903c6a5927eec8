"""What re-ranking reads, and its cross-validation."""
