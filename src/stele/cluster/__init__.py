"""A run on a SLURM cluster: its cost, the requests of its jobs, checks before it starts, the jobs' environment."""
