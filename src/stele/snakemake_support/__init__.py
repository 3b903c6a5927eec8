"""Code that runs in Snakemake's own process, around the rules; `patches/` has all changes of its private code."""
