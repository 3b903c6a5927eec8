"""The loss: by hand, against a naive implementation, under permutation, on two processes."""

import math

import numpy as np
import pytest
import torch
from tiny_runs import RECIPE, XTREME, training_example

from stele.finetuning.dual_encoder.batches import Group, make_group, positive_mask
from stele.finetuning.dual_encoder.examples import read_examples
from stele.finetuning.dual_encoder.model import group_loss, load_model, loss_of_vectors
from stele.recipes.finetuning import parse_finetuning
from stele.training.processes import process_context
from tests.forked import forked


def group_of(passages: list[int], columns: list[int], known: list[list[int]] | None = None) -> Group:
    passages, columns = np.array(passages), np.array(columns)
    right = [np.array(k) for k in known] if known else [passages[[c]] for c in columns]
    return Group(np.arange(len(columns)), passages, columns, positive_mask(passages, columns, right))


def naive(queries, passages, group, known):
    total = 0.0
    for i, column in enumerate(group.positives):
        wrong = [j for j in range(len(passages)) if j != column and group.passages[j] not in known[i]]
        scores = [float(queries[i] @ passages[j]) for j in [column, *wrong]]
        total += math.log(sum(math.exp(s - scores[0]) for s in scores))
    return total / len(group.positives)


def test_against_a_naive_implementation_with_duplicates():
    generator = torch.Generator().manual_seed(0)
    queries, passages = torch.randn(4, 8, generator=generator), torch.randn(7, 8, generator=generator)
    known = [[5, 6], [5], [7], [8]]
    group = group_of([5, 9, 5, 7, 6, 8, 9], [0, 2, 3, 5], known)
    assert int(group.mask.sum()) == 3
    assert float(loss_of_vectors(queries, passages, group, 1.0)) == pytest.approx(
        naive(queries, passages, group, known), abs=1e-5
    )


def data_and_model(base, style="dpr", number=12, dropout=0.0):
    recipe = parse_finetuning({**(XTREME if style == "xtreme" else RECIPE), "dropout": dropout})
    module, tokenizer, _ = load_model(base, recipe, 0)
    source = [training_example(i) for i in range(number)]
    return read_examples(source, tokenizer, recipe.spec(), True, "test"), module.eval()


def gradients(module):
    return {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}


def test_loss_is_that_of_vectors_encoded_one_by_one(base):
    data, module = data_and_model(base)
    group = make_group(data, np.arange(5), [data.negatives_of(i)[:2] for i in range(5)])
    with torch.no_grad():
        alone = [module.vectors(data.queries, np.array([i]), "query") for i in group.queries]
        passages = [module.vectors(data.passages, np.array([i]), "passage") for i in group.passages]
        wanted = naive(torch.cat(alone), torch.cat(passages), group, [data.positives_of(i) for i in group.queries])
    assert float(group_loss(module, data, group).detach()) == pytest.approx(wanted, abs=1e-5)


def test_scores_are_float32_even_under_mixed_precision(base):
    """Dot products of unnormalised vectors are large: bfloat16 would round them to whole numbers."""
    data, module = data_and_model(base)
    group = make_group(data, np.arange(6), [data.negatives_of(i)[:1] for i in range(6)])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        queries = module.vectors(data.queries, group.queries, "query") * 20
        passages = module.vectors(data.passages, group.passages, "passage") * 20
        loss = loss_of_vectors(queries, passages, group, 1.0)
    known = [data.positives_of(i) for i in group.queries]
    assert queries.dtype == torch.float32
    assert float(loss) == pytest.approx(naive(queries.double(), passages.double(), group, known), rel=1e-4)


@pytest.mark.parametrize("style", ["dpr", "xtreme"])
def test_recomputed_chunks_give_the_same_gradients(base, style):
    data, module = data_and_model(base, style)
    group = make_group(data, np.arange(7), [data.negatives_of(i)[:1] for i in range(7)])
    group_loss(module, data, group).backward()
    whole = gradients(module)
    module.zero_grad()
    group_loss(module, data, group, chunk=3).backward()
    for name, value in gradients(module).items():
        assert torch.allclose(value, whole[name], atol=1e-5), name


@pytest.mark.parametrize("style", ["dpr", "xtreme"])
def test_scale_and_separate_towers_get_gradients(base, style):
    data, module = data_and_model(base, style)
    group_loss(module, data, make_group(data, np.arange(5), [data.negatives_of(i)[:0] for i in range(5)])).backward()
    names = set(gradients(module))
    assert ("scale" in names) == (style == "xtreme")
    assert {name.split(".")[1] for name in names if name != "scale"} == (
        {"shared"} if style == "xtreme" else {"query", "passage"}
    )
    assert any("pooler" in name for name in names) == (style == "xtreme")


def uneven_group(data):
    """7 queries, one without a hard negative, one twice: unequal shares, and two candidates to mask."""
    rows = np.array([0, 1, 2, 3, 4, 5, 5])
    return make_group(data, rows, [data.negatives_of(i)[: int(n != 2)] for n, i in enumerate(rows)])


# style, dropout, chunk: with chunks, each draws its own dropout, whoever encodes it
CASES = {"dpr": ("dpr", 0.0, None), "xtreme": ("xtreme", 0.0, None), "dropout": ("dpr", 0.3, 2)}


def one_group(base, case, process=None):
    style, dropout, chunk = CASES[case]
    data, module = data_and_model(base, style, dropout=dropout)
    group = uneven_group(data)
    assert group.mask.sum() == 2
    torch.manual_seed(1)
    loss = group_loss(module.train(), data, group, chunk=chunk, processes=process) / (process.world if process else 1)
    loss.backward()
    return loss.detach(), gradients(module), module


@pytest.mark.slow
def test_two_processes_give_the_loss_and_gradients_of_one(base, tmp_path):
    def work(rank):
        torch.set_num_threads(1)
        process, results = process_context(), {}
        assert process.world == 2
        for case in CASES:
            loss, actual, module = one_group(base, case, process)
            grads = {
                n: process.all_reduce_sum(actual.get(n, torch.zeros_like(p))) for n, p in module.named_parameters()
            }
            results[case] = {"loss": process.all_reduce_sum(loss), "gradients": grads}
        if process.is_main:
            torch.save(results, tmp_path / "two.pt")
        process.barrier()

    assert forked(2, work) == [0, 0]
    two = torch.load(tmp_path / "two.pt", weights_only=True)
    for case in CASES:
        loss, outcome, _ = one_group(base, case)
        assert float(loss) == pytest.approx(float(two[case]["loss"]), abs=1e-5)
        assert max(float(value.abs().max()) for value in outcome.values()) > 1e-2
        for name, value in two[case]["gradients"].items():
            assert torch.allclose(value, outcome.get(name, torch.zeros_like(value)), atol=1e-4), (case, name)
