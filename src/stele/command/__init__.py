"""The stages of the workflow in order, each of which is a folder and a group of commands, and all other groups."""

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
