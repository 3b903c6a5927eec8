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
ALONE = ("evaluate",)  # groups of one command, which is called by the group's name alone
GROUPS = (*STAGES, *ALONE, "results", "encoders", "claims", "cluster")
