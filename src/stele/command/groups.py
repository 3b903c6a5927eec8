"""The stages of the workflow in order, each a folder and a group of commands, and all other groups.

Only the command line imports this list, so a new stage changes no command's fingerprint.
"""

STAGES = (
    "sources",
    "corpora",
    "pairs",
    "pretraining",
    "finetuning",
    "retrieval",
    "reranking",
    "answering",
    "scoring",
    "tables",
)
ALONE = ("new", "evaluate", "adapt")  # groups with a command of their own name, which is called by that name alone
GROUPS = (*STAGES, *ALONE, "encoders", "claims", "cluster")
