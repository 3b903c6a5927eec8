"""What a SLURM cluster wants of a run: its names, sizes of jobs, and what keeps jobs safe from what clusters do."""
