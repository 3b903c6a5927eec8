"""Selection of a checkpoint by a dev set, measured during training; the best weights so far are kept on disk."""

import logging
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from stele.encoders.tokens import Tokens
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.reading import read_state, reading
from stele.finetuning.dual_encoder.batches import dev_groups
from stele.finetuning.dual_encoder.examples import Examples
from stele.finetuning.dual_encoder.model import DualEncoder, loss_of_vectors
from stele.recipes.encoding import Kind
from stele.recipes.finetuning import FinetuningRecipe
from stele.training.callbacks import Evaluation
from stele.training.processes import ProcessContext, autocast

log = logging.getLogger(__name__)

BLOCK = 1_024  # queries scored against the candidates at a time


class Selection(Evaluation):
    """Measures a dev set during training and keeps the best weights so far in `folder`.

    The NLL selects before the recipe's rank epoch; then the average rank does, regardless of earlier weights (DPR's
    --val_av_rank_start_epoch). A resumed run decides the same. Raises SteleError if no dev query has two candidates.
    """

    def __init__(
        self,
        folder: Path,
        module: DualEncoder,
        data: Examples,
        recipe: FinetuningRecipe,
        an_epoch: int,
        process: ProcessContext,
    ) -> None:
        super().__init__(recipe.evaluate_every or an_epoch)
        self.folder, self.module, self.data, self.recipe = folder, module, data, recipe
        self.an_epoch, self.process = an_epoch, process
        self.groups = dev_groups(data, recipe.dev_batch, recipe.hard_negatives)
        self.without_second_candidate = len(data) - sum(len(group.queries) for group in self.groups)
        if not self.groups:
            raise SteleError(
                f"the dev set has {len(data)} usable examples, none with a candidate besides its own positive; "
                f"the NLL needs hard negatives, or 2 examples with different positives in a group of "
                f"{recipe.dev_batch} (dev_batch)"
            )

    def measure(self, step: int) -> dict[str, float]:
        """Measures the module after `step` steps and keeps its weights if they are the best so far."""
        from_epoch = self.recipe.rank_from_epoch
        by_rank = from_epoch is not None and (step - 1) // self.an_epoch >= from_epoch
        name, value = ("dev_average_rank", self.average_rank()) if by_rank else ("dev_nll", self.dev_nll())
        if self.process.is_main:
            log.info("step %d: %s %.4f", step, name, value)
            if self.recipe.selection != "last":
                self._keep_if_best(int(by_rank), name, value, step)
        return {name: value}

    def vectors(self, kind: Kind, rows: np.ndarray) -> Tensor:
        """Vectors [len(rows), d] on every process. Raises SteleError if one is not finite."""
        tokens: Tokens = self.data.queries if kind == "query" else self.data.passages
        processes = self.process if self.process.world > 1 and len(rows) >= self.process.world else None
        with torch.no_grad(), autocast(self.module.device, self.recipe.precision):
            vectors = self.module.vectors(tokens, rows, kind, processes=processes)
        if not vectors.isfinite().all():
            raise SteleError(
                f"training diverged: the vector of a dev {kind} is not finite; lower the learning rate, clip gradients "
                f"(clip_norm) or use float32"
            )
        return vectors

    def dev_nll(self) -> float:
        """Mean over dev groups of the training loss without dropout (DPR's validate_nll)."""
        total = 0.0
        for group in self.groups:
            queries, passages = self.vectors("query", group.queries), self.vectors("passage", group.passages)
            if self.module.scale is not None:
                queries = queries * self.module.scale.detach()
            total += float(loss_of_vectors(queries, passages, group, self.recipe.temperature))
        return total / len(self.groups)

    def average_rank(self) -> float:
        """Mean rank, from 0, of each question's positive in one pool of candidates (DPR's validate_average_rank).

        The pool has the positives and the first `dev_negatives` hard negatives of all dev questions, each passage once.
        Other known positives of a question do not worsen its rank; other passages with an equal score do.
        """
        data, total = self.data, 0
        listed: list[np.ndarray] = []
        for example in range(len(data)):
            listed += [data.positives_of(example)[:1], data.negatives_of(example)[: self.recipe.dev_negatives]]
        candidates = np.unique(np.concatenate(listed))
        passages, queries = self.vectors("passage", candidates), self.vectors("query", np.arange(len(data)))
        column = {int(row): place for place, row in enumerate(candidates)}
        with torch.autocast(queries.device.type, enabled=False):
            for start in range(0, len(data), BLOCK):
                scores = queries[start : start + BLOCK].float() @ passages.float().T
                for row, values in enumerate(scores):
                    known = [column[int(p)] for p in data.positives_of(start + row) if int(p) in column]
                    gold = values[column[int(data.positives_of(start + row)[0])]]
                    total += int((values >= gold).sum()) - int((values[known] >= gold).sum())
        return total / len(data)

    def best(self) -> dict[str, float | int | str] | None:
        """Figure, value and step of the kept weights; None if there are none."""
        return read_state(self.folder / "best.json")

    def restore(self) -> None:
        """Loads the kept weights, if there are any, into the module. Raises SteleError for a damaged file."""
        from safetensors.torch import load_file

        if self.best() is not None:
            path = self.folder / "weights.safetensors"
            with reading(path, "safetensors file", f"delete {self.folder.parent} to train from the start"):
                self.module.load_state_dict(load_file(path))

    def _keep_if_best(self, phase: int, name: str, value: float, step: int) -> None:
        from safetensors.torch import save_file

        before = self.best()
        if before is not None and (phase, -value) <= (before["phase"], -before["value"]):
            return
        with atomic_directory(self.folder, "finetune") as new_folder:
            weights = {key: tensor.detach().cpu().contiguous() for key, tensor in self.module.state_dict().items()}
            save_file(weights, new_folder / "weights.safetensors")
            atomic_write_json(new_folder / "best.json", {"phase": phase, "figure": name, "value": value, "step": step})
