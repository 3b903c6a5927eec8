"""What each file of facts may say: a model each, by topic. Anything else is refused in one sentence.

The models check and change nothing: `catalogue.load` returns what stands in the file. They run when the workflow is
read (driver/facts_check), before anything is built, so that jobs need not; no command depends on them.
"""
