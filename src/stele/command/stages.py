"""The stages of the workflow in their order, each a folder and a group of commands; and the groups of all commands."""

STAGES = (
    "world",
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
GROUPS = (*STAGES, "encoders", "claims", "cluster")
