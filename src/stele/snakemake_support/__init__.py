"""Code that runs in Snakemake's own process, around the rules; `patches/` has all that changes its private parts."""
