"""Runs on a SLURM cluster: their cost, the resources that jobs request, checks before the start, the environment."""
