"""What mining commands share: arguments, candidates of the knowledge base, segments."""
