"""What a job of rule answer does: `answer(plan, w)` of its wildcards (rules.yaml: `cost`)."""

from __future__ import annotations

from typing import Any

from stele.artifacts.results import RunKey
from stele.cost import counts
from stele.cost.counts import costs
from stele.cost.finetuning import Texts
from stele.cost.shapes import saved_bytes, shape_of
from stele.cost.work import Work
from stele.plan.plan import Plan
from stele.recipes.flops import encode


def answer(plan: Plan, w: Any) -> Work:
    """A fine-tuning on all questions, dev questions after each epoch that counts, test questions once."""
    shape, size = shape_of(plan, w.model).shape, counts.answered_size(w.benchmark)
    row, rows = RunKey(w.benchmark, w.model, w.setting), plan.rows.kinds.get("answered")
    recipe, entry = rows.recipe(row), counts.training_set_size(rows.training_set(row))
    known, pairs = costs().texts[size.pair], len(plan.data.languages(w.benchmark))
    text, examples = Texts(known.mean, known.longest).within(recipe.length), counts.total(entry.examples, None)
    dev = (1 + recipe.epochs - recipe.dev_from_epoch) * size.dev
    read = (examples + pairs * (size.dev + size.test)) * costs().passage_characters
    query = round(costs().texts[entry.query].mean)  # global where there are windows
    forward = encode(1, text.mean, shape, first_only=False, global_tokens=query)
    return Work(
        {
            "training": 3 * recipe.epochs * examples * encode(1, text.longest, shape, False, global_tokens=query),
            "encoding": pairs * (dev + size.test) * forward,
        },
        steps=recipe.epochs * -(-examples // recipe.batch),
        cpu_seconds=read / costs().rates.mined_bytes,
        kept=pairs * size.test * costs().run_bytes,
        temporary=(3 + recipe.epochs) * saved_bytes(shape),
    )
