"""One, two and four processes (gloo) train alike: whole groups and spread ones, batch norm, memory bank, MLM."""

import multiprocessing

import numpy as np
import pytest
import torch
from tiny_objectives import OWN, SHAPE, WORDS, model, module_of, new_stores, recipe

from stele.errors import SteleError
from stele.training import tasks
from stele.training.callbacks import AfterStep
from stele.training.loop import train
from stele.training.processes import ProcessContext
from stele.training.sharding import cut, divide, own_parts
from tests.waiting import exit_code

FORK = multiprocessing.get_context("fork")
CPU = torch.device("cpu")
# pieces of one or two sequences: at least as many as there are processes, in every group
CASES = {
    "msm": dict(encode_chunk=2, groups=3, documents=4, mlm_sequences=8),  # batch norm over the group, MLM beside it
    "msm whole": dict(encode_chunk=2, groups=4),
    "crop": dict(encode_chunk=2, groups=3, mlm_sequences=8),
    "ict": dict(encode_chunk=1, groups=1, mlm_share=0.0, clip_norm=0.5),
    "mlm": dict(encode_chunk=2, groups=3, mlm_sequences=8),
    "kept": dict(encode_chunk=1),
    "moco": dict(encode_chunk=1, groups=3),  # the queue has all keys, in the order of the groups
    "ccp": dict(encode_chunk=2, groups=3, mlm_sequences=8),  # bank and running statistics, MLM beside it
    "clir": dict(encode_chunk=1, steps=6),  # a round of both tasks, every group spread
    "clir pointwise": dict(encode_chunk=1, steps=6, ranking="pointwise"),
    "ccp whole": dict(encode_chunk=2, groups=4, mlm_sequences=8, bank_sides="both", statistics="language"),
}
CASES["ccp whole"] |= dict(output_norm=True)
THREE = [case for case in CASES if case.startswith("ccp")]  # its groups are three and four: whole here, spread there
TRIED = [(case, world) for case in CASES for world in (2, 4)] + [(case, 3) for case in THREE]


def together(world, run, *arguments):
    """run(place, *arguments) in so many processes; all must end well."""

    def start(rank):
        rendezvous = f"file://{arguments[0]}/rendezvous{world}"
        torch.distributed.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=world)
        run(ProcessContext(CPU, rank, world), *arguments)

    processes = [FORK.Process(target=start, args=(rank,)) for rank in range(world)]
    for process in processes:
        process.start()
    assert [exit_code(process) for process in processes] == [0] * world


def fit(process, folder, stores, case, changes):
    settled = recipe(case.split()[0], dropout=0.2, **{"steps": 2, **changes})
    made = tasks.new_tasks(settled, stores, WORDS, 3)
    encoder = model("bert")
    torch.manual_seed(2)
    if settled.trains_pooler():
        from transformers.models.bert.modeling_bert import BertPooler

        encoder.base_model.pooler = BertPooler(encoder.config)
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.2
    module = module_of(made, encoder)
    name = f"{case}-{process.world}"
    callbacks = {"heads": AfterStep(module.after_step)}
    batches = tasks.losses(made, module, settled, process, SHAPE)
    options = {"state": folder / f"state-{name}", "seed": 3, "process": process, "callbacks": callbacks}
    outcome = train(module, batches, settled, **options)
    torch.save([module.state_dict(), outcome["counts"], outcome["rows"]], folder / f"{name}-{process.rank}.pt")


def fit_all(process, folder, stores):
    for case, changes in CASES.items():
        if process.world == 1 or (case, process.world) in TRIED:
            fit(process, folder, stores, case, changes)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    stores = new_stores(folder / "stores")
    torch.set_num_threads(1)
    fit_all(ProcessContext(CPU), folder, stores)  # here: those that are forked then have all that it imports
    for world in (2, 3, 4):
        together(world, fit_all, folder, stores)
    return folder


@pytest.mark.parametrize(("case", "world"), TRIED)
def test_several_processes_have_the_curve_the_weights_and_the_counts_of_one(trained, case, world):
    """Dropout included: every piece draws its own, whoever encodes it."""
    alone, counts, curve = torch.load(trained / f"{case}-1-0.pt")
    first, _, shared_curve = torch.load(trained / f"{case}-{world}-0.pt")
    assert len(curve) == len(shared_curve) == CASES[case].get("steps", 2)
    for one, other in zip(curve, shared_curve, strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-5)
    for rank in range(world):
        weights, seen, _ = torch.load(trained / f"{case}-{world}-{rank}.pt")
        assert seen == counts
        for name, value in alone.items():
            assert torch.equal(weights[name], first[name]), name
            assert torch.allclose(value, weights[name], atol=2e-4), name


def test_every_objective_is_tried():
    assert {case.split()[0] for case in CASES} == set(OWN)


@pytest.mark.parametrize("groups", [1, 3, 4, 16])
@pytest.mark.parametrize("world", [1, 2, 3, 4, 8])
def test_every_group_counts_once(groups, world):
    parts = [divide(groups, ProcessContext(CPU, rank, world)) for rank in range(world)]
    weights, counted = np.zeros(groups), np.zeros(groups)
    for part in parts:
        weights[list(part.numbers)] += part.weight
        counted[list(part.numbers)] += part.counted
    assert np.allclose(weights, 1 / groups) and (counted == 1).all()
    assert len({part.shared for part in parts}) == 1 and parts[0].shared == (groups % world != 0)


def test_pieces_draw_random_numbers_of_their_own():
    """What a piece draws depends on the seed and its number; what comes after the pieces, on neither them nor it."""

    def drawn(pieces, chunked):
        torch.manual_seed(7)
        actual = own_parts(lambda piece: torch.rand(len(piece)), pieces, chunked, None)
        return torch.cat(actual), torch.rand(1).item()

    numbers, after = drawn(cut(6, 2), True)
    assert len(set(numbers.tolist())) == 6
    assert drawn([*cut(6, 2)[:2], np.array([4])], True)[1] == after
    assert torch.equal(drawn([*cut(6, 2)[:2], np.array([4])], True)[0], numbers[:5])


def test_more_processes_than_sequences_is_an_error():
    with pytest.raises(SteleError, match="a group of 3 texts cannot be spread over 4 processes; use fewer"):
        own_parts(lambda piece: torch.zeros(len(piece)), cut(3, 1), True, ProcessContext(CPU, 0, 4))
