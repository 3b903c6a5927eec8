"""CCP: a sentence is to find a sentence of its window among those of its language (Wu et al. 2022, section 3.1).

Centre and partner are drawn from the documents of MSM's store. One encoder makes both vectors (first token, last
layer), each side has a projection head, dropped in the end. Candidates are the group's other sentences and a memory
bank of earlier ones, of the same language only. Asymmetric batch normalisation: of an even group (by its number in the
run) the centres are normalised by their batch and the partners by running statistics, of an odd one the reverse
(Algorithm 1).

The groups of a step see bank and running statistics as they were before it; what they add enters after the step, in the
order of the groups, so the number of processes changes nothing. (Algorithm 1 updates after each minibatch, since it
takes no several of them to a step.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.recipes.flops import Shape
from stele.recipes.objectives.ccp import Recipe
from stele.training.heads import ObjectiveHeads
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary, attention, pad
from stele.training.memory_bank import MemoryBank
from stele.training.objectives._ccp_contexts import draw, same_window, sentences
from stele.training.objectives._ccp_divergence import diverged
from stele.training.objectives._ccp_heads import ContextHead
from stele.training.objectives._ccp_loss import context_loss
from stele.training.objectives._ccp_staleness import APART, NONE, Probe
from stele.training.objectives._ccp_step import Added, added, of_step, sizes
from stele.training.objectives._contrastive import duplicate_counts, vectors
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat

POOLING = "cls"

__all__ = ["POOLING", "Heads", "batch", "diverged", "flops", "negatives", "vectors"]


def negatives(recipe: Recipe, vectors: float) -> float:
    """At most: of a full bank that held a single language."""
    return (vectors - 1) * (2 if recipe.candidates == "both_sides" else 1) + recipe.bank


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["ids"].shape, len(batch["queues"]))


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """ids int64 [2 n, t]: centre and partner of each document in turn, mask bool [2 n, t] or None; tags int64 [n]:
    their languages by their numbers in the recipe, queues: which those are; positives bool [n, n] (`same_window`);
    number: the group's; vectors (n), duplicates (partners that another one equals)"""
    contexts = draw(flat.counts, recipe.reach, rng)
    ids, lengths = pad(*sentences(flat, contexts), vocabulary, recipe.sentence_length)
    numbers = [recipe.languages.index(part) for part, _ in group.drawn]
    counts = duplicate_counts(ids[1::2])
    return {
        "ids": ids,
        "mask": attention(lengths, ids.shape[1]),
        "tags": np.repeat(numbers, [len(indices) for _, indices in group.drawn]),
        "queues": tuple(numbers),
        "positives": same_window(group, contexts, recipe.reach),
        "number": group.number,
        **{name: counts[name] for name in ("vectors", "duplicates")},
    }


class Start(NamedTuple):
    """The groups of all steps before this one; whether the bank is to be probed in it by the group that is held, and
    whether a group is to be held after it."""

    groups: int
    probe: bool
    hold: bool


class Heads(ObjectiveHeads):
    """The heads of centres and partners, bank and running statistics, and the group by which the bank is probed."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe, width, languages = recipe, config.hidden_size, len(recipe.languages)
        norms = 0 if recipe.batch_norm == "none" else 2 if recipe.output_norm else 1
        sets = languages if recipe.statistics == "language" else 1
        self.sides = nn.ModuleList(ContextHead(width, config.initializer_range, norms, sets) for _ in range(2))
        self.bank = self.probe = None
        if recipe.bank:
            self.bank = MemoryBank(recipe.bank, width, languages if recipe.bank_per == "language" else 1)
            self.probe = Probe(recipe.pairs, recipe.sentence_length, width)
        self.register_buffer("groups", torch.zeros((), dtype=torch.long))  # of all steps so far
        self.sizes = sizes(recipe, width, norms)
        self.waiting: dict[int, Added] = {}  # of this process's groups of the step, by their places in it
        self.start: Start | None = None  # read from the device once a step

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """The group's mean loss over all positive terms."""
        recipe, number, start = self.recipe, batch["number"], self._started()
        states = first_states(model.base_model, batch["ids"], batch["mask"], recipe.encode_chunk, processes)
        with torch.autocast(states.device.type, enabled=False):
            vectors = torch.cat([self._project(states[n::2], n, number, batch["queues"][0]) for n in (0, 1)])
            vectors = functional.normalize(vectors, dim=1) if recipe.l2 else vectors
            bank = None if self.bank is None else self.bank.entries(batch["queues"])
            tags = batch["tags"] if len(batch["queues"]) > 1 else batch["tags"][:1]
            loss, self.figures = context_loss(vectors, tags, batch["positives"], bank, recipe)
        statistics = self.sides[number % 2].seen() if recipe.batch_norm == "asymmetric" else None
        self.waiting[number - start.groups] = added(batch, vectors.detach(), statistics, recipe)
        if start.probe and number == start.groups:
            self.figures["bank_cosine"] = self._bank_cosine(model, processes)
        return loss

    @torch.no_grad()
    def after_step(self, model: nn.Module, process: ProcessContext) -> None:
        """What the groups leave behind enters bank and running statistics, in the order of the groups."""
        start, recipe = self._started(), self.recipe
        found = of_step(self.waiting, self.sizes, recipe, self.groups.device, process)
        tags = found.tags - 1
        if recipe.batch_norm == "asymmetric":
            for place, tag in enumerate(tags[:, 0].tolist()):
                self.sides[(start.groups + place) % 2].update(found.statistics[place], self._set(tag))
        if self.bank is not None and len(tags):
            if start.probe:
                self.probe.release()
            if start.hold:
                tag = int(tags[0, 0])
                facts = int(self.bank.pushed[self.bank.queue(tag)]), start.groups, tag
                self.probe.hold(found.ids[0] - 1, found.vectors[0, -recipe.pairs :], facts)
            self.bank.push(found.vectors.flatten(0, 1), tags.flatten())
        self.groups += len(tags)
        self.waiting.clear()
        self.start = None

    def _project(self, states: Tensor, side: int, number: int, tag: int) -> Tensor:
        """What a side's head makes of its half of a group [n, width]: of centres (0) or partners (1)."""
        by_batch = self.recipe.batch_norm == "plain" or number % 2 == side
        return self.sides[side](states, by_batch, self._set(tag))

    def _set(self, tag: int) -> int:
        """The set of running statistics that a group of this language uses."""
        return tag if self.recipe.statistics == "language" else 0

    def _started(self) -> Start:
        if self.start is None:
            groups, probe, hold = int(self.groups), False, False
            if self.bank is not None:
                before, number, tag = self.probe.facts.tolist()
                taken = int(self.bank.pushed[self.bank.queue(tag)]) + self.recipe.banked_a_step
                probe = before != NONE and taken > before + self.recipe.bank
                hold = (before == NONE or probe) and groups >= number + APART
            self.start = Start(groups, probe, hold)
        return self.start

    def _bank_cosine(self, model: nn.Module, processes: ProcessContext | None) -> Tensor:
        """The mean cosine of the held group's vectors, about to leave the bank, and of those its sentences have now."""
        _, number, tag = self.probe.facts.tolist()

        def encode(ids: Tensor, mask: Tensor) -> Tensor:
            states = first_states(model.base_model, ids, mask, self.recipe.encode_chunk, processes)
            with torch.autocast(states.device.type, enabled=False):
                return self._project(states, 1, number, tag)

        training = model.training
        model.eval()  # without dropout
        found = self.probe.cosine(encode)
        model.train(training)
        return found
