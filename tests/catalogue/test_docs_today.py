"""docs/today.md's list of encoders says what the catalogue says, of each of them."""

import re

from stele.catalogue import entries
from stele.catalogue.schema.models import Model

COLUMNS = ("pooling", "normalised", "queries", "passages", "licence", "saw", "not_verified")


def listed(root):
    """Key -> (repository, the other cells by column) of the list's rows."""
    text = (root / "docs/today.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if re.match(r"\| `\w+` \|", line)]
    rows = [[cell.removeprefix(" ").removesuffix(" ").replace("\\|", "|") for cell in row] for row in rows]
    return {row[0].strip("`"): (row[1], dict(zip(COLUMNS, row[2:], strict=True))) for row in rows if len(row) == 9}


def test_each_encoder_is_listed_as_the_catalogue_has_it(root):
    today = {key: model for key, model in entries(Model).items() if model.is_complete}
    rows = listed(root)
    assert rows.keys() == today.keys()
    for key, model in today.items():
        repository, row = rows[key]
        given = model.encoding.given()
        prompts = [given.get(name, "").replace("\n", "\\n") for name in ("query_prompt", "passage_prompt")]
        assert repository == model.checkpoint and row["licence"] == model.licence, key
        assert [row["queries"].strip("`"), row["passages"].strip("`")] == prompts, key
        assert row["saw"].split(", ") == model.trained_on, key
        assert given.get("pooling", row["pooling"]) == row["pooling"], key
        assert given.get("normalize", row["normalised"] == "yes") == (row["normalised"] == "yes"), key
        # what was read at its source is held against the folder: another pooling there is an error
        assert "pooling" in given or "pooling" in row["not_verified"], key
