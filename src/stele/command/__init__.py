"""The stages of the workflow in their order, each a folder and a group of commands; and the groups of all commands."""

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
