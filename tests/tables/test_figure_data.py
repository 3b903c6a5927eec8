"""What stands behind a figure: values and files, in the states of the tables' cells, derived anew each time."""

import pytest
from figure_files import CURVES, DISTRIBUTION, PROJECTION, curve_points, found, lengths, projection, write_rows

from stele.tables.render.figure_data import Lengths


def states(parts):
    return [[one.state for one in part.outcomes] for part in parts]


# --- curves -----------------------------------------------------------------------------------------------------------
def test_a_curve_has_a_state_for_each_of_its_points(bench):
    curve_points(bench, {"start": 0.4, "one_5": 0.5})
    rows = {"two_10/cv5/clef": {"state": "not built", "reason": "no rule"}}
    _, (one, two) = found(bench, CURVES, rows=rows)
    assert states([one, two]) == [["measured", "measured", "not run"], ["measured", "not built"]]
    assert [point.value for point in one.outcomes] == [0.4, 0.5, None]
    assert (one.measured, two.measured) == (2, 1)
    assert one.outcomes[0].labels == ("stand-in checkpoint",)


# --- files ------------------------------------------------------------------------------------------------------------
def test_a_projection_is_read_with_its_labels_and_its_shares(bench):
    projection(bench, "first", labels=["stand-in checkpoint", "generated data"])
    _, (first, second) = found(bench, PROJECTION)
    assert states([first, second]) == [["measured"], ["not run"]]
    assert first.outcomes[0].labels == ("generated data", "stand-in checkpoint")
    assert first.data.explained == (0.75, 0.2)
    assert first.data.points["ar"] == {n: (float(n), 1.0) for n in range(4)}
    assert second.data is None


def test_the_seeds_that_the_context_names_are_drawn(bench):
    projection(bench, "first", seeds="pt0-ft0"), projection(bench, "first", seeds="pt1-ft0", shift=5.0)
    first = {}
    for seeds in ({}, {"first/direct/tatoeba": "pt1-ft0"}):
        _, (part, _) = found(bench, PROJECTION, seeds=seeds)
        first[bool(seeds)] = part.data.points["en"][0]
    assert first == {False: (0.0, 0.0), True: (5.0, 0.0)}
    _, (part, _) = found(bench, PROJECTION, seeds={"first/direct/tatoeba": "pt7-ft0"})
    assert states([part]) == [["not run"]], "a file of other seeds is not this run's"


def test_a_file_that_cannot_be_had_says_why(bench):
    rows = {"first/direct/tatoeba": {"state": "unavailable", "reason": "weights"}}
    _, parts = found(bench, PROJECTION, rows=rows, languages_in_scale={"tatoeba": ["sw"]})
    assert states(parts) == [["unavailable"], ["not in scale"]]
    assert parts[0].outcomes[0].reason == "weights"


def test_a_file_of_an_earlier_run_is_not_drawn(bench):
    projection(bench, "first"), projection(bench, "second")
    name = "direct/tatoeba/projection_ar"
    _, parts = found(bench, PROJECTION, failed={f"first/{name}": "logs/p.log"}, outdated=[f"second/{name}"])
    assert states(parts) == [["failed"], ["not run"]]
    assert parts[0].outcomes[0].reason == "log: logs/p.log" and parts[1].data is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text(path.read_text().replace("0", "1", 1)), "not the file that its record describes"),
        (lambda path: path.with_suffix(".json").unlink(), "no such record"),
        (lambda path: path.with_suffix(".json").write_text("{"), "not a readable record"),
        (lambda path: rewrite(path, lambda rows: rows[:-1]), "want a point in each language for every line"),
        (lambda path: rewrite(path, lambda rows: rows[1:]), "want the columns line, language, x, y"),
        (lambda path: rewrite(path, lambda rows: rows[:1]), "want a point in each language for every line"),
        (lambda path: rewrite(path, lambda rows: [r.replace("en", "fr") for r in rows]), "found 'fr'"),
        (lambda path: rewrite(path, lambda rows: [*rows[:-1], "3,ar,x,1"]), "could not convert string to float"),
        (lambda path: rewrite(path, lambda rows: rows, explained=[1.0]), "want two shares as `explained`"),
        (lambda path: rewrite(path, lambda rows: rows, explained=[None, "0.2"]), "want two shares as `explained`"),
    ],
)
def test_a_damaged_file_is_unreadable_and_named(bench, damage, message):
    path = projection(bench, "first")
    damage(path)
    _, (first, second) = found(bench, PROJECTION)
    assert states([first, second]) == [["unreadable"], ["not run"]]
    assert message in first.outcomes[0].reason and "projection_ar" in first.outcomes[0].reason


def rewrite(path, change, **facts):
    """Other rows under a record that describes them."""
    lines = change(path.read_text().replace("language", "LANGUAGE").splitlines())
    facts = {"explained": [0.7, 0.2], **facts}
    write_rows(path, [line.replace("LANGUAGE", "language").split(",") for line in lines], **facts)


def test_lengths_are_counted_whole(bench):
    lengths(bench, "en", [(700, 1), (100, 2), (300, 1)])
    _, (english, french) = found(bench, DISTRIBUTION)
    assert states([english, french]) == [["measured"], ["not run"]]
    assert english.data == Lengths([(100, 2), (300, 1), (700, 1)])
    assert english.data.documents == 4
    assert [english.data.share_up_to(length) for length in (99, 100, 300, 699, 700)] == [0, 0.5, 0.75, 0.75, 1]


@pytest.mark.parametrize("counts", [[], [(10, 0)], [(10, -1), (20, 1)]])
def test_a_file_without_documents_is_unreadable(bench, counts):
    lengths(bench, "en", counts)
    _, (english, _) = found(bench, DISTRIBUTION)
    assert states([english]) == [["unreadable"]] and "want lengths with at least one" in english.outcomes[0].reason
