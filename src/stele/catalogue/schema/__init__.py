"""What each file of facts may say: a model each, by topic. Anything else is refused in one sentence.

`catalogue.entries` gives what a file says, typed by its model. All files are checked when the workflow is read
(snakemake_support/validate_catalogue), before anything is built.
"""
