"""An encoder adapted to documents of one's own by one command, and whether it is better than it was."""
