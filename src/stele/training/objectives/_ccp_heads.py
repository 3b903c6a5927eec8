"""CCP's heads as they are trained, and its loss over group and memory bank (section 3.1)."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.training.heads import ProjectionHead
from stele.training.hidden_states import pooled_states
from stele.training.objectives._ccp_bank import APART, NONE, Added, MemoryBank, Probe, added, of_step, sizes
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch


class Start(NamedTuple):
    """State of the heads at the start of a step: number of `groups` in all earlier steps; whether this step must
    `probe` the bank with the held group; whether the heads must `hold` a new group after the step."""

    groups: int
    probe: bool
    hold: bool


class Heads(nn.Module):
    """CCP's heads for centres and partners, with running statistics, the memory bank and its probe."""

    def __init__(self, recipe: Any, config: Any) -> None:
        super().__init__()
        self.recipe, width, languages = recipe, config.hidden_size, len(recipe.languages)
        norms = 0 if recipe.batch_norm == "none" else 2 if recipe.output_norm else 1
        sets = languages if recipe.statistics == "language" else 1
        self.sides = nn.ModuleList(ProjectionHead(width, config.initializer_range, norms, sets) for _ in range(2))
        self.bank = self.probe = None
        if recipe.bank:
            self.bank = MemoryBank(recipe.bank, width, languages if recipe.bank_per == "language" else 1)
            self.probe = Probe(recipe.pairs, recipe.sentence_length, width)
        self.register_buffer("groups", torch.zeros((), dtype=torch.long))  # groups of all steps so far
        self.sizes = sizes(recipe, width, norms)
        self.waiting: dict[int, Added] = {}  # this process's groups of the step, by place
        self.start: Start | None = None  # read from the device once a step

    def forward(
        self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Computes the group's mean loss over all positive terms, float32 [], and the figures for the curve."""
        recipe, number, start = self.recipe, batch["number"], self._started()
        states = self._states(model, batch["ids"], batch["mask"], processes)
        with torch.autocast(states.device.type, enabled=False):
            vectors = torch.cat([self._project(states[n::2], n, number, batch["queues"][0]) for n in (0, 1)])
            vectors = functional.normalize(vectors, dim=1) if recipe.l2 else vectors
            bank = None if self.bank is None else self.bank.entries(batch["queues"])
            tags = batch["tags"] if len(batch["queues"]) > 1 else batch["tags"][:1]
            loss, figures = context_loss(vectors, tags, batch["positives"], bank, recipe)
        statistics = self.sides[number % 2].seen() if recipe.batch_norm == "asymmetric" else None
        self.waiting[number - start.groups] = added(batch, vectors.detach(), statistics, recipe)
        if start.probe and number == start.groups:
            figures["bank_cosine"] = self._bank_cosine(model, processes)
        return loss, figures

    @torch.no_grad()
    def after_step(self, process: ProcessContext) -> None:
        """Adds the step's vectors to the bank and its statistics to the running ones, in the order of groups."""
        start, recipe = self._started(), self.recipe
        step = of_step(self.waiting, self.sizes, recipe, self.groups.device, process)
        tags = step.tags - 1
        if recipe.batch_norm == "asymmetric":
            for place, tag in enumerate(tags[:, 0].tolist()):
                self.sides[(start.groups + place) % 2].update(step.statistics[place], self._set(tag))
        if self.bank is not None and len(tags):
            if start.probe:
                self.probe.facts[0] = NONE  # no group is held any longer
            if start.hold:
                tag = int(tags[0, 0])
                facts = int(self.bank.pushed[self.bank.queue(tag)]), start.groups, tag
                self.probe.hold(step.ids[0] - 1, step.vectors[0, -recipe.pairs :], facts)
            self.bank.push(step.vectors.flatten(0, 1), tags.flatten())
        self.groups += len(tags)
        self.waiting.clear()
        self.start = None

    def _states(self, model: nn.Module, ids: Tensor, mask: Tensor | None, processes: ProcessContext | None) -> Tensor:
        pooling = self.recipe.pooling or "cls"
        return pooled_states(pooling, model.base_model, ids, mask, self.recipe.encode_chunk, processes)

    def _project(self, states: Tensor, side: int, number: int, tag: int) -> Tensor:
        """Projects the states [n, width] of one side of a group: centres (0) or partners (1)."""
        by_batch = self.recipe.batch_norm == "plain" or number % 2 == side
        return self.sides[side](states, by_batch, self._set(tag))

    def _set(self, tag: int) -> int:
        return tag if self.recipe.statistics == "language" else 0

    def _started(self) -> Start:
        if self.start is None:
            groups, probe, hold = int(self.groups), False, False
            if self.bank is not None:
                before, number, tag = self.probe.facts.tolist()
                pushed = int(self.bank.pushed[self.bank.queue(tag)]) + self.recipe.banked_a_step
                probe = before != NONE and pushed > before + self.recipe.bank
                hold = (before == NONE or probe) and groups >= number + APART
            self.start = Start(groups, probe, hold)
        return self.start

    def _bank_cosine(self, model: nn.Module, processes: ProcessContext | None) -> Tensor:
        _, number, tag = self.probe.facts.tolist()

        def encode(ids: Tensor, mask: Tensor) -> Tensor:
            states = self._states(model, ids, mask, processes)
            with torch.autocast(states.device.type, enabled=False):
                return self._project(states, 1, number, tag)

        training = model.training
        model.eval()  # without dropout
        cosine = self.probe.cosine(encode)
        model.train(training)
        return cosine


# --- the loss ---------------------------------------------------------------------------------------------------------
def context_loss(
    vectors: Tensor, tags: Tensor, positives: Tensor, bank: tuple[Tensor, Tensor] | None, recipe: Any
) -> tuple[Tensor, dict[str, Tensor]]:
    """Mean of -log softmax over all positive terms of both directions (Algorithm 1, lines 14 to 16), and figures.

    vectors [2 n, d]: the n centres, then their partners, unit vectors if scores are cosines; tags int64 [n]: their
    languages, or [1] if they share one; positives bool [n, n]: whether partner j is in the window of centre i; bank:
    vectors [m, d] and tags int64 [m], negative for an empty place.

    The figures, each a mean over the group:

    chance           log of the number of a term's candidates: the loss of random scores
    accuracy, guess  share of sentences whose best candidate in the group is a positive; that share for random guesses
    cosine           cosine of different sentences of one side
    """
    number, languages = len(positives), tags if len(tags) == 1 else torch.cat([tags, tags])
    shared = recipe.bank_languages == "shared"
    with torch.no_grad():
        owner = torch.arange(2 * number, device=vectors.device)  # excludes only the vector itself
        if recipe.candidates == "other_side":  # the centres for a partner, the partners for a centre
            owner = owner >= number
        candidates = owner[:, None] != owner
        if not shared:
            candidates &= languages[:, None] == languages
        choices, terms = candidates.sum(1), positives.new_zeros(2 * number, 2 * number)
        terms[:number, number:], terms[number:, :number] = positives, positives.T

    scores = in_group = _scores(vectors, vectors, candidates, recipe.temperature)
    if bank is not None:
        allowed = (bank[1] >= 0)[None] if shared else languages[:, None] == bank[1]
        scores = torch.cat([in_group, _scores(vectors, bank[0], allowed, recipe.temperature)], dim=1)
        choices = choices + allowed.sum(1)
    likelihood = functional.log_softmax(scores, 1)[:, : 2 * number].masked_fill(~terms, 0.0).sum()
    with torch.no_grad():
        each = terms.sum(1)
        whole = each.sum()
        figures = {
            "chance": (each * choices.log()).sum() / whole,
            "accuracy": terms.gather(1, in_group.argmax(1, keepdim=True)).float().mean(),
            "guess": (each / candidates.sum(1)).mean(),
            "cosine": _mean_cosine(vectors, number),
        }
    return -likelihood / whole, figures


def _scores(vectors: Tensor, others: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    return torch.addmm(torch.where(allowed, 0.0, float("-inf")), vectors, others.T, alpha=1 / temperature)


def _mean_cosine(vectors: Tensor, number: int) -> Tensor:
    """Mean cosine of two different centres, or two different partners; vectors [2 n, d]."""
    total = functional.normalize(vectors, dim=1).view(2, number, -1).sum(1)
    return (total.square().sum(1).mean() - number) / (number * (number - 1))
