"""Shift, scale and rotate: by hand, beside the references, and what is refused."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from stele.artifacts.records import content_digest
from stele.encoders.calibration import (
    FILE,
    Calibration,
    Statistics,
    load_calibration,
    read_tensors,
    scale,
    shift,
    statistics,
    write_tensors,
)
from stele.encoders.neighbours import mean_cosine, mutual, nearest
from stele.encoders.rotation import learn_rotation, procrustes
from stele.errors import SteleError
from stele.evaluation.similarity import csls
from stele.files.strict import validate
from stele.recipes.encoding import EncodingSpec
from stele.recipes.search import CalibrationRecipe, RotationRecipe
from tests.sealed import write_sealed

ROWS = np.array([[1.0, 2.0], [3.0, 6.0]])


# --- statistics -------------------------------------------------------------------------------------------------------
def test_blocks_do_not_change_the_statistics():
    rows = np.random.default_rng(0).standard_normal((1000, 3)).astype(np.float32) + np.float32(1000)
    for cuts in ([], [1], [1, 2, 999], [500, 500]):
        found = statistics(np.split(rows, cuts), "fr")
        assert np.allclose(found.mean, rows.mean(axis=0, dtype=np.float64), rtol=1e-12)
        assert np.allclose(found.deviation, rows.std(axis=0, dtype=np.float64), rtol=1e-9)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:1], "fr: 1 vectors are too few"),
        (ROWS[:0], "fr: 0 vectors are too few"),
        ([[1, 2], [np.nan, 6]], "fr: vector 2 is not finite"),
        ([[1, 2], [np.inf, 6]], "fr: vector 2 is not finite"),
        ([[1, 2], [3, 2]], "fr, 2 vectors: coordinate 1 is the same in all, as are 1 of 2 .* nothing can be scaled"),
        (
            [[1, 1e-33, 0], [3, -1e-33, 5]],
            r"coordinate 1 is the same .* as are 1 of 3 \(deviation 1.0e-33, .* 2.5e\+00\)",
        ),
        ([[0, 0], [0, 0]], "coordinate 0 is the same in all, as are 2 of 2"),
        ([[1e-30, 1e-38], [3e-30, 0]], "coordinate 1 is the same in all, as are 1 of 2"),
    ],
)
def test_vectors_without_statistics_are_refused(rows, said):
    with pytest.raises(SteleError, match=said):
        statistics([np.array(rows, np.float64)], "fr")


def test_small_vectors_that_differ_are_no_dead_ones():
    rows = np.random.default_rng(0).standard_normal((100, 4)) * [1.0, 1e-3, 1e-5, 1.0]
    for size in (1.0, 1e-20):
        own = statistics([rows * size], "fr")
        assert np.allclose(scale(shift(rows * size, own), own).std(axis=0), 1)


def test_a_dead_coordinate_among_ten_is_shifted_and_not_scaled():
    rows = np.random.default_rng(0).standard_normal((100, 10))
    rows[:, 3] = 1e-33 * np.sign(rows[:, 3])
    own = statistics([rows], "fr")
    scaled, living = scale(shift(rows, own), own), np.arange(10) != 3
    assert np.abs(scaled[:, 3]).max() < 1e-32 and np.allclose(scaled[:, living].std(axis=0), 1)


def test_a_calibration_with_a_dead_coordinate_is_refused_where_it_is_read(tmp_path):
    own = {"fr": Statistics(np.zeros(2), np.array([1.0, 1e-33]))}
    write_tensors(tmp_path / FILE, own, {})
    with pytest.raises(SteleError, match=rf"{FILE}: fr: coordinate 1 is the same in all"):
        read_tensors(tmp_path / FILE)


# --- Procrustes and neighbours ----------------------------------------------------------------------------------------
def turned(angle: float, dimension: int = 3) -> np.ndarray:
    """A rotation by an angle in the first plane, then in the second."""
    matrix, turn = np.eye(dimension), np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for plane in ([0, 1], [1, 2]):
        own = np.eye(dimension)
        own[np.ix_(plane, plane)] = turn
        matrix = own @ matrix
    return matrix


def test_procrustes_finds_a_rotation_from_pairs_and_stays_orthogonal():
    draws = np.random.default_rng(0)
    first, wanted = draws.standard_normal((50, 4)), turned(2.5, 4)
    found = procrustes(first, first @ wanted.T + 1e-6 * draws.standard_normal((50, 4)))
    assert np.abs(found - wanted).max() < 1e-5
    assert np.abs(found @ found.T - np.eye(4)).max() < 1e-12


def test_procrustes_leaves_directions_alone_of_which_the_pairs_say_nothing():
    first = np.zeros((20, 4))
    first[:, :2] = np.random.default_rng(0).standard_normal((20, 2))
    found = procrustes(first, np.roll(first[:, :2], 1, axis=1) @ np.eye(2, 4))
    assert np.abs(found - np.eye(4)[[1, 0, 2, 3]]).max() < 1e-6


@pytest.mark.parametrize("block", [1 << 25, 100])
def test_neighbours_are_those_of_the_ranking_metric(monkeypatch, block):
    monkeypatch.setattr("stele.encoders.neighbours.BLOCK", block)
    draws = np.random.default_rng(0)
    x, y = draws.standard_normal((60, 5)), draws.standard_normal((40, 5))
    scores = np.concatenate(list(csls(x, y, 10)))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True), y / np.linalg.norm(y, axis=1, keepdims=True)
    (of_x, _), (of_y, _) = nearest(*map(torch.tensor, unit), 10)
    assert of_x.tolist() == scores.argmax(axis=1).tolist() and of_y.tolist() == scores.argmax(axis=0).tolist()
    rows, columns = mutual(torch.tensor(x), torch.tensor(y), 10)
    pairs = [(a, b) for a, b in enumerate(scores.argmax(axis=1)) if scores[:, b].argmax() == a]
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == pairs and 5 < len(pairs) < 40
    wanted = np.mean([unit[0][a] @ unit[1][b] for a, b in enumerate(scores.argmax(axis=1))])
    assert mean_cosine(torch.tensor(x), torch.tensor(y), 10) == pytest.approx(wanted)


# --- rotations --------------------------------------------------------------------------------------------------------
SMALL = {
    "discriminator_width": 32, "discriminator_layers": 1, "batch": 64, "epochs": 3, "epoch_vectors": 64 * 50,
    "beta": 0.1, "refinement_vectors": 400, "criterion_vectors": 400,
}  # fmt: skip


def unpaired(angle: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of two languages of one shape, the second turned; no two of them belong together."""
    draws, centres = np.random.default_rng(0), np.array([[4.0, 0, 0], [0, 2, 0], [0, 0, 1]])
    sides = [
        centres[draws.choice(3, count, p=[0.5, 0.3, 0.2])] + 0.3 * draws.standard_normal((count, 3)) for _ in range(2)
    ]
    return sides[0], sides[1] @ turned(angle).T


def test_refinement_goes_towards_a_small_hidden_rotation():
    first, second = unpaired(0.2)
    far = []
    for refinements in (1, 5, 30):
        recipe = RotationRecipe(start="identity", refinements=refinements, **SMALL)
        far.append(np.abs(learn_rotation(first, second, recipe, 0, "de-en").matrix - turned(0.2)).max())
    assert np.abs(np.eye(3) - turned(0.2)).max() > far[0] > far[1] > far[2] and far[2] < 0.1


def test_a_large_hidden_rotation_is_found_by_the_adversarial_start_alone():
    first, second = unpaired(1.0)
    stuck = learn_rotation(first, second, RotationRecipe(start="identity", **SMALL), 0, "de-en")
    assert np.abs(stuck.matrix - turned(1.0)).max() > 0.5
    found = learn_rotation(first, second, RotationRecipe(**SMALL), 0, "de-en")
    assert np.abs(found.matrix - turned(1.0)).max() < 0.1
    assert np.abs(found.matrix @ found.matrix.T - np.eye(3)).max() < 1e-6
    names = ["identity", *(f"adversarial epoch {n}" for n in (1, 2, 3)), *(f"refinement {n}" for n in range(1, 6))]
    assert [one["matrix"] for one in found.criteria] == names
    best = max(found.criteria, key=lambda one: one["criterion"])
    assert found.facts()["kept"] == best["matrix"] and found.facts()["criterion"] > stuck.facts()["criterion"]
    again = learn_rotation(first, second, RotationRecipe(**SMALL), 0, "de-en")
    assert again.matrix.tobytes() == found.matrix.tobytes()
    assert learn_rotation(first, second, RotationRecipe(**SMALL), 1, "de-en").criteria != found.criteria


def test_a_search_that_was_killed_goes_on_after_its_last_epoch(tmp_path):
    first, second = unpaired(1.0)
    recipe = RotationRecipe(**{**SMALL, "epoch_vectors": 64 * 10})
    whole = learn_rotation(first, second, recipe, 0, "de-en")

    def killed(epoch: int) -> None:
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_rotation(first, second, recipe, 0, "de-en", state=tmp_path, watch=killed)
    told = []
    resumed = learn_rotation(first, second, recipe, 0, "de-en", state=tmp_path, watch=told.append)
    assert told == [3] and resumed.criteria == whole.criteria
    assert resumed.matrix.tobytes() == whole.matrix.tobytes()


def test_a_better_identity_is_kept():
    first, _ = unpaired(0.0)
    found = learn_rotation(first, first, RotationRecipe(**{**SMALL, "epoch_vectors": 64}), 0, "de-en")
    assert found.facts()["kept"] == "identity" and found.facts()["criterion"] > 0.999
    assert found.matrix.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:2], "de-en: en: 2 vectors are too few to rotate 3 dimensions"),
        (lambda rows: rows * [1, 0, 0], "de-en: en: vectors are singular, since they span 1 of 3 directions"),
        (lambda rows: np.where(rows == rows.max(), np.nan, rows), "de-en: en: some vectors are not finite"),
    ],
)
def test_vectors_that_no_rotation_can_be_learnt_of_are_refused(change, said):
    first, second = unpaired(0.2)
    with pytest.raises(SteleError, match=said):
        learn_rotation(first, change(second), RotationRecipe(**SMALL), 0, "de-en")


def test_a_search_that_diverges_says_so():
    with pytest.raises(SteleError, match=r"de-en: the adversarial start diverged in epoch 1.*smaller learning_rate"):
        learn_rotation(*unpaired(1.0), RotationRecipe(**{**SMALL, "learning_rate": 1e6}), 0, "de-en")


def test_the_defaults_are_muse_s_and_a_wrong_key_is_refused():
    own = CalibrationRecipe().rotation
    assert (own.beta, own.discriminator_layers, own.discriminator_width, own.input_dropout) == (0.001, 2, 2048, 0.1)
    assert (own.smoothing, own.discriminator_steps, own.learning_rate, own.decay) == (0.1, 5, 0.1, 0.98)
    assert (own.epochs, own.epoch_vectors, own.batch, own.refinements, own.neighbours) == (5, 1_000_000, 32, 5, 10)
    with pytest.raises(SteleError, match=r"rotation\.strat.*did you mean 'start'"):
        validate(CalibrationRecipe, {"rotation": {"strat": "identity"}}, "--recipe")
    with pytest.raises(SteleError, match="refinement_vectors: 15000 exceeds the 500 `sentences`"):
        validate(CalibrationRecipe, {"sentences": 500}, "--recipe")


# --- the calibration of an encoder ------------------------------------------------------------------------------------
STATISTICS = {"fr": Statistics(np.array([2.0, 4.0]), np.array([1.0, 2.0])), "en": Statistics(np.zeros(2), np.ones(2))}
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
SPEC = EncodingSpec(pooling="mean", layer=2, include_prompt=False)


def test_each_operation_does_what_those_before_it_do():
    own = Calibration(STATISTICS, {"fr-en": QUARTER}, "standard_deviation")
    assert own.apply(ROWS, "shifted", "fr").tolist() == [[-1, -2], [1, 2]]
    assert own.apply(ROWS, "scaled", "fr").tolist() == [[-1, -1], [1, 1]]
    for pair in ("fr-en", "en-fr"):  # one W for both directions: it turns French, whichever searches
        assert own.apply(ROWS, "calibrated", "fr", pair).tolist() == [[1, -1], [-1, 1]]
        assert own.apply(ROWS, "calibrated", "en", pair).tolist() == ROWS.tolist()
    assert own.apply(ROWS, "scaled", "fr").dtype == np.float32
    by_variance = Calibration(STATISTICS, {}, "variance")
    assert by_variance.apply(ROWS, "scaled", "fr").tolist() == [[-1, -0.5], [1, 0.5]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("scaled", "de"), "unknown language of a calibration 'de'.*Valid: ar, en, fr"),
        (("calibrated", "fr", "fr-de"), "unknown pair of a calibration 'fr-de'"),
        (("calibrated", "ar", "fr-en"), "unknown language of the pair fr-en 'ar'"),
        (("scale", "fr"), "unknown calibration 'scale'; did you mean 'scaled'"),
    ],
)
def test_what_was_not_learnt_is_not_applied(given, said):
    with pytest.raises(SteleError, match=said):
        statistics_of = {**STATISTICS, "ar": STATISTICS["en"]}
        Calibration(statistics_of, {"fr-en": QUARTER}, "variance").apply(ROWS, *given)


@pytest.fixture
def saved(tmp_path):
    """(record of a calibration, record of its encoder)."""
    encoder = tmp_path / "encoder.json"
    write_sealed(encoder, {"job": "pretrain", "content": "a"})
    facts = {"inputs": {"encoder": content_digest(encoder)}, "encoding": SPEC.model_dump()}
    write_tensors(tmp_path / FILE, STATISTICS, {"fr-en": QUARTER})
    record = {"job": "calibrate", "recipe": {"scale_by": "variance"}, **facts}
    write_sealed(tmp_path / "record.json", record)
    return tmp_path / "record.json", encoder


def test_a_calibration_is_read_back_and_written_the_same(saved, tmp_path):
    found = load_calibration(*saved, SPEC)
    assert found.scale_by == "variance" and found.statistics.keys() == {"fr", "en"}
    assert found.statistics["fr"].deviation.tolist() == [1, 2] and found.rotations["fr-en"].tolist() == QUARTER.tolist()
    write_tensors(tmp_path / "again", dict(reversed(found.statistics.items())), found.rotations)
    assert (tmp_path / "again").read_bytes() == (tmp_path / FILE).read_bytes()


def test_a_calibration_of_another_encoder_or_layer_is_refused(saved):
    record, encoder = saved
    different = [("layer", 3), ("layer", None), ("pooling", "cls"), ("passage_length", 64), ("include_prompt", True)]
    for key, value in different:
        other = SPEC.model_copy(update={key: value})
        with pytest.raises(
            SteleError, match=rf"its vectors were made with {key}: .*those to calibrate with {key}: {value}"
        ):
            load_calibration(record, encoder, other)
    write_sealed(encoder, {"job": "pretrain", "content": "b"})
    with pytest.raises(SteleError, match=r"calibrates the encoder \w+, not .*encoder\.json"):
        load_calibration(record, encoder, SPEC)
    with pytest.raises(SteleError, match="the record of `pretrain`, want that of a calibration"):
        load_calibration(encoder, encoder, SPEC)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rotation/fr-en", QUARTER * 1.001, "W of fr-en is not orthogonal"),
        ("rotation/fr-en", QUARTER[0], "W of fr-en is not orthogonal"),
        ("mean/fr", np.array([np.nan, 1]), "mean/fr holds a number that is not finite"),
        ("deviation/fr", None, "not a readable calibration"),
    ],
)
def test_damaged_tensors_are_refused(tmp_path, name, value, said):
    write_tensors(tmp_path / FILE, STATISTICS, {"fr-en": QUARTER})
    tensors = load_file(tmp_path / FILE)
    if value is None:
        del tensors[name]
    else:
        tensors[name] = value
    save_file(tensors, tmp_path / FILE)
    with pytest.raises(SteleError, match=said):
        read_tensors(tmp_path / FILE)
    (tmp_path / FILE).write_bytes(b"x" * 40)
    with pytest.raises(SteleError, match="not a readable calibration"):
        read_tensors(tmp_path / FILE)
