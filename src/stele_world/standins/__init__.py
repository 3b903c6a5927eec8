"""Stand-ins for public checkpoints: one way of making one a file; files with a leading underscore are shared parts."""
