"""What runs around the rules, in the process that started the workflow."""
