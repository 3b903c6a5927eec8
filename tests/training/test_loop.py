"""The training loop: accumulation, resuming after a kill, signals, mixed precision, divergence."""

import errno
import os
import signal
from unittest import mock

import pytest
import torch
from kills import ends_the_same_after_a_kill, same
from torch import nn

from stele.errors import SteleError
from stele.recipes.optimisation import Optimisation
from stele.training import loop, saved_state
from stele.training.callbacks import Evaluation, Snapshots
from stele.training.curve import NORM, MetricsLog, read_csv, write_curve
from stele.training.loop import MicroBatches, train
from stele.training.processes import ProcessContext
from stele.training.sampling import derive

HERE = ProcessContext(torch.device("cpu"))


class Tiny(nn.Module):
    """Dropout and an embedding, so that random numbers and sparse-looking gradients take part."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(20, 8), nn.Linear(8, 20)
        self.unused = nn.Linear(2, 2)

    def forward(self, ids):
        hidden = nn.functional.dropout(self.embedding(ids), 0.2, self.training)
        return nn.functional.cross_entropy(self.out(hidden), (ids + 1) % 20)


def tiny():
    torch.manual_seed(11)
    return Tiny()


def batches(model, groups=2, size=6):
    def loss_at(step):
        for index in range(groups):
            ids = torch.randint(0, 20, (size,), generator=torch.Generator().manual_seed(step * groups + index))
            yield {"loss": (model(ids), 1 / groups), "seen": size}

    return loss_at


def settings(**changes):
    return Optimisation(**{**dict(steps=12, learning_rate=0.05, warmup_steps=3, weight_decay=0.01), **changes})


def fit(state, model=None, loss_at=None, seed=5, **more):
    """A run of `tiny`; `at_step` is short for its callback."""
    model, process = model or tiny(), more.pop("process", HERE)
    callbacks = {"at_step": Snapshots(more.pop("at_step", {})), **more.pop("callbacks", {})}
    source = MicroBatches(loss_at or batches(model), range(process.rank, 100, process.world))
    options = {"state": state, "seed": seed, "process": process, "callbacks": callbacks}
    return model, train(model, source, more.pop("optimisation", settings()), **options, **more)


def test_the_loss_falls_and_is_logged(tmp_path):
    _, outcome = fit(tmp_path / "state", optimisation=settings(steps=60, clip_norm=1.0))
    write_curve(tmp_path, outcome["rows"])
    rows = read_csv(tmp_path / "curve.csv")
    assert [row["step"] for row in rows] == list(range(1, 61))
    assert rows[0]["loss"] > 2.5 > 1.0 > rows[-1]["loss"]
    assert rows[2]["learning_rate"] == pytest.approx(0.05)
    assert all(row["gradient_norm"] > 0 for row in rows)
    assert outcome["steps"] == 60 and outcome["counts"] == {"seen": 60 * 12}


def test_the_step_is_adamw_with_clipping_written_out(tmp_path):
    model, plain, moments = tiny(), tiny(), {"betas": (0.9, 0.98), "eps": 1e-6}
    _, outcome = fit(tmp_path, model, optimisation=settings(steps=3, clip_norm=0.1, **moments))
    reference = torch.optim.AdamW(plain.parameters(), lr=0.05, weight_decay=0.01, **moments)
    for step in range(3):
        reference.zero_grad()
        source = batches(plain)(step)
        for index in range(2):
            torch.manual_seed(derive(5, "micro-batch", step, index))
            value, weight = next(source)["loss"]
            (value * weight).backward()
        norm = nn.utils.clip_grad_norm_(plain.parameters(), 0.1)
        assert outcome["rows"][step][NORM] == pytest.approx(norm.item(), rel=1e-5)
        reference.param_groups[0]["lr"] = 0.05 * (step + 1) / 3
        reference.step()
    for a, b in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-6)


class Dev(Evaluation):
    """Counts how often it measured, and whether the model was in training mode then."""

    def __init__(self, every, model):
        super().__init__(every)
        self.model, self.modes = model, []

    def measure(self, step):
        self.modes.append(self.model.training)
        return {"dev": float(len(self.modes))}


@pytest.mark.parametrize("warmup", [2, 3])
def test_a_warm_up_as_long_as_the_run_is_told_of_any_training(tmp_path, caplog, warmup):
    fit(tmp_path, optimisation=settings(steps=3, warmup_steps=warmup))
    assert ("training: warm-up takes 3 steps, and the run has 3" in caplog.text) == (warmup == 3)


def test_snapshots_and_evaluation(tmp_path):
    model, kept = tiny(), {}
    dev = Dev(5, model)
    keep = {step: (lambda step=step: kept.update({step: model.out.weight.clone()})) for step in (4, 12)}
    _, outcome = fit(tmp_path, model, at_step=keep, callbacks={"dev": dev})
    assert set(kept) == {4, 12} and torch.equal(kept[12], model.out.weight) and not torch.equal(kept[4], kept[12])
    assert dev.figures == [{"step": 5, "dev": 1.0}, {"step": 10, "dev": 2.0}, {"step": 12, "dev": 3.0}]
    assert dev.modes == [False, False, False] and model.training
    assert [row["dev"] for row in outcome["rows"] if "dev" in row] == [1, 2, 3]


def test_killed_and_run_again_ends_in_the_same_bytes(tmp_path):
    seen = []

    def run(state, at_step=None):
        model = tiny()
        source = batches(model)
        every_step = settings(save_every_seconds=0)

        def noted(step):
            seen.append(step)
            return source(step)

        return fit(state, model, noted, optimisation=every_step, at_step=at_step or {})

    _, outcome = ends_the_same_after_a_kill(run, tmp_path, 7, lambda module: seen.clear())
    assert seen == [6, 7, 8, 9, 10, 11]
    assert 0 < outcome["earlier"][0] < outcome["seconds"] and outcome["earlier"][1] > 0
    assert outcome["counts"] == {"seen": 12 * 12}


def test_what_callbacks_remember_is_saved_under_their_names(tmp_path):
    model = tiny()
    stop = {7: lambda: os.kill(os.getpid(), signal.SIGTERM)}
    with pytest.raises(SteleError, match="after step 7"):
        fit(tmp_path, model, at_step=stop, callbacks={"dev": Dev(3, model)})
    model = tiny()
    dev, new = Dev(3, model), Dev(6, model)
    fit(tmp_path, model, callbacks={"new": new, "dev": dev})
    assert [figures["step"] for figures in dev.figures] == [3, 6, 9, 12]
    assert [figures["step"] for figures in new.figures] == [12]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_saves_and_ends_with_a_clear_error(tmp_path, number):
    undisturbed, _ = fit(tmp_path / "other")
    before = signal.getsignal(number)
    with pytest.raises(SteleError, match=rf"stopped by {number.name} after step 4 of 12.*run the same command again"):
        fit(tmp_path / "state", at_step={4: lambda: os.kill(os.getpid(), number)})
    assert signal.getsignal(number) is before
    model, _ = fit(tmp_path / "state")
    assert same(model, undisturbed)


def test_a_kill_while_saving_leaves_the_state_before(tmp_path, monkeypatch):
    fit_once = settings(save_every_seconds=0)
    with pytest.raises(SteleError):
        fit(tmp_path, at_step={3: lambda: os.kill(os.getpid(), signal.SIGTERM)}, optimisation=fit_once)
    whole = (tmp_path / "training.pt").read_bytes()

    def broken(values, handle):
        handle.write(b"half of it")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", broken)
    with pytest.raises(OSError, match="disk full"):
        fit(tmp_path, optimisation=fit_once)
    assert (tmp_path / "training.pt").read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == [saved_state.FILE]


def test_a_state_that_takes_long_to_write_leaves_time_to_train(tmp_path, monkeypatch):
    """A second a step, three to write the state: with a state every two seconds, no step would follow another."""
    now, saved = [0.0], []
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])

    def write(folder, values):
        saved.append(values["step"])
        now[0] += 3

    def pass_a_second():
        now[0] += 1

    monkeypatch.setattr(saved_state, "save", write)
    fit(tmp_path, at_step=dict.fromkeys(range(1, 13), pass_a_second), optimisation=settings(save_every_seconds=2))
    assert saved == [2, 4, 6, 8, 10]


def test_a_damaged_state_is_named(tmp_path):
    (tmp_path / "training.pt").write_bytes(b"PK\x03\x04 not a state")
    with pytest.raises(SteleError, match=r"training\.pt: not a readable training state"):
        fit(tmp_path)


@pytest.mark.parametrize("error", [OSError(errno.ESTALE, "Stale file handle"), RuntimeError("CUDA error: ECC error")])
def test_a_state_that_cannot_be_read_for_now_is_not_to_be_deleted_at_once(tmp_path, monkeypatch, error):
    (tmp_path / "training.pt").write_bytes(b"whole")
    monkeypatch.setattr(torch, "load", mock.Mock(side_effect=error))
    with pytest.raises(SteleError, match=r"training\.pt: .*run the same command again; if that fails alike"):
        fit(tmp_path)


def altered(model, alter):
    source = batches(model)

    def loss_at(step):
        for named in source(step):
            value, weight = named["loss"]
            yield {"loss": (alter(value, step), weight)}

    return loss_at


def test_divergence_is_an_error_that_names_the_step(tmp_path):
    model = tiny()
    losses = altered(model, lambda value, step: value * (float("nan") if step == 4 else 1))
    with pytest.raises(SteleError, match="diverged at step 5: loss = nan"):
        fit(tmp_path, model, losses)


def test_a_last_step_that_spoils_the_weights_is_an_error(tmp_path):
    """Its loss is finite, the gradient is not, and no further loss would tell."""
    model = tiny()
    endless = lambda value, step: value + ((model.out.bias * 0).square().sum().sqrt() if step == 11 else 0)  # noqa: E731
    with pytest.raises(SteleError, match="diverged at step 12: a weight is not finite; lower the learning rate"):
        fit(tmp_path, model, altered(model, endless))  # the slope of a root at 0


@pytest.mark.parametrize("fused", [True, False])  # a model with weights of two types has no fused kernel
@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_steps_that_float16_skips_are_told(tmp_path, monkeypatch, caplog, clip_norm, fused):
    of_module = lambda self, module: torch.optim.AdamW(module.parameters(), fused=fused)  # noqa: E731
    monkeypatch.setattr(Optimisation, "optimiser", of_module)
    optimisation = settings(precision="float16", clip_norm=clip_norm)

    def overflowing_until(step, folder):
        model = tiny()
        losses = altered(model, lambda value, number: value * (1e30 if number < step else 1))
        fit(folder, model, losses, optimisation=optimisation)

    overflowing_until(9, tmp_path / "some")
    assert "training: 9 of 12 steps were skipped: a float16 gradient overflowed" in caplog.text
    with pytest.raises(SteleError, match="diverged at step 12: no step had a finite gradient"):
        overflowing_until(12, tmp_path / "all")


def test_an_infinite_gradient_norm_of_float16_has_no_part_in_the_last_mean():
    logged = MetricsLog(HERE)
    for step, norm in enumerate([1.0, 2.0, float("inf"), 4.0], start=1):
        logged.add(step, 0.1, {"loss": (3.0, 1.0), NORM: (norm, 1.0)}, {})
    logged.flush()
    assert logged.tail(1.0) == {"gradient_norm": round(7 / 3, 6), "loss": 3.0}
    logged.rows = logged.rows[2:3]
    assert logged.tail() == {"loss": 3.0}


def test_an_undefined_gradient_norm_of_float16_is_logged_as_a_resumed_run_logs_it():
    """Gradients of both signs that overflow have an undefined norm; the saved log has no such number."""
    logged = MetricsLog(HERE)
    for step, norm in enumerate([float("nan"), float("inf"), 4.0], start=1):
        logged.add(step, 0.1, {"loss": (3.0, 1.0), NORM: (norm, 1.0)}, {})
    logged.flush()
    assert saved_state.tensors_to_rows(saved_state.rows_to_tensors(logged.rows)) == logged.rows


def test_a_step_without_batches_is_an_error(tmp_path):
    with pytest.raises(SteleError, match="step 1: no micro-batch gave a gradient; check"):
        fit(tmp_path, loss_at=lambda step: iter(()))


def test_gradients_are_summed_in_few_exchanges_a_large_one_alone(monkeypatch):
    """An exchange of each costs a step of four processes half a second, by its waits alone."""
    monkeypatch.setattr(loop, "BUCKET", 30)
    sizes = [(2, 3), (4,), (31,), (5, 2), (8,), (3,)]  # the last has a gradient in another process alone
    parameters = [nn.Parameter(torch.zeros(size)) for size in sizes]
    for number, parameter in enumerate(parameters[:-1]):
        parameter.grad = torch.arange(parameter.numel()).reshape(parameter.shape) + 100.0 * number
    before = [parameter.grad.clone() for parameter in parameters[:-1]]
    exchanged = []

    def all_reduce_sum(tensor):
        exchanged.append(len(tensor))
        return tensor.mul_(2) if tensor.is_floating_point() else tensor.fill_(1)

    assert loop._sum_gradients(parameters, mock.Mock(world=2, device=HERE.device, all_reduce_sum=all_reduce_sum))
    assert exchanged == [len(sizes), 6 + 4, 31, 10 + 8 + 3]
    assert all(torch.equal(p.grad, 2 * old) for p, old in zip(parameters, before, strict=False))
    assert not parameters[-1].grad.any()
