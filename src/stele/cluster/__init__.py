"""What a SLURM cluster needs to know of a run, what it says of itself, and how jobs survive on it."""
