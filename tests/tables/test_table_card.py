"""A model's result card: what it says is what the records say, and nothing is left out that a reader must know."""

import contextlib
import json
import shlex

import pytest

from stele.catalogue.references import published
from stele.command import cli
from stele.evaluate.evaluate import encoding_of
from stele.tables.render.card import encoding_rows
from stele.tables.render.card_sources import Amount, Evaluated, passages, queries, read, reproduce_command, seconds
from tests.sealed import write_sealed

HUB = "intfloat/multilingual-e5-small"
REVISION = "c" * 40
ENCODING = {"pooling": "mean", "normalize": True, "query_length": 128, "query_prompt": "query: ", "passage_prompt": ""}
DECIDED = {"config": ["query_length"], "models": ["query_prompt"], "folder": ["pooling", "normalize"]}
NOTE = "its folder names the prompts web_query, and none is used; choose one with `prompt_name`"


def published_korean():
    return next(one for one in published()["mrtydi"] if (one.model, one.subset) == (HUB, "korean") and one.judges)


@pytest.fixture
def results(tmp_path):
    """results(benchmark, ...): the file of a result of me5_small, with its retrieval; others' arguments change both."""

    def write(benchmark="mrtydi", model="me5_small", notes=(), labels=(), languages=("ko", "sw"), **job):
        score, encoded = published_korean(), {"job": "retrieve", "encoding_decided_by": DECIDED, "encoding": ENCODING}
        value = round(score.value + score.tolerance / 2, 6)
        checkpoint = {"job": "sources checkpoint", "model": model, "repository": HUB, "revision": REVISION}
        values = {"languages": {"ko": value, "sw": 0.25}, "average": 0.5, "n": {"ko": 421, "sw": 670}}
        intervals = {"languages": {"ko": [value - 0.031, value + 0.03], "sw": [0.2, 0.3]}, "average": [0.47, 0.53]}
        result = {
            **{"benchmark": benchmark, "model": model, "setting": "direct", "labels": list(labels)},
            **{"metrics": {score.metric: values}, "seeds": {"pretraining": 0, "finetuning": 0}},
            "intervals": {"method": "percentile bootstrap", "level": 0.95, "seed": 0, score.metric: intervals},
            "ancestry": {"a": {**checkpoint, "licence": "MIT"}, "b": encoded},
        }
        search = {"pool": "ko", "passages": 1000, "cut_passages": 5, "queries": 400, "cut_queries": 1}
        retrieval = {
            **{**encoded, "languages": list(languages), "searches": {"ko": search, "ko-en": search}},
            **({"encoding_notes": list(notes)} if notes else {}),
            **{"wall_seconds": 20.0, "cpu_seconds": 35.4, "device": "cpu (x86_64)"},
            **{"versions": {"torch": "2.13.0"}, "commit": "0123456789abcdef", **job},
        }
        path = tmp_path / f"results_evaluate/{benchmark}/{model}/direct/pt0-ft0.json"
        path.with_suffix("").mkdir(parents=True)
        write_sealed(path, result)
        write_sealed((path.with_suffix("") / "retrieval.json"), retrieval)
        return path

    return write


def card(tmp_path, *paths, options=()):
    """The Markdown and the HTML of a card, as from the folder that holds the results' folder."""
    files = [tmp_path / "cards/me5_small.md", tmp_path / "cards/me5_small.html"]
    with contextlib.chdir(tmp_path):
        relative = [str(path.relative_to(tmp_path)) for path in paths]
        assert cli.main(["tables", "card", "--results", *relative, *options, "--output", *map(str, files)]) == 0
    return [file.read_text(encoding="utf-8") for file in files]


def encoding_in_command(evaluated):
    """What the command of a card says behind --encoding, as `stele evaluate` reads it."""
    words = shlex.split(reproduce_command(evaluated, "paper"))
    return encoding_of(words[words.index("--encoding") + 1 :])


def test_a_card_says_how_texts_became_vectors_what_came_of_it_and_how_to_make_it_again(tmp_path, results):
    markdown, html = card(tmp_path, results())
    numbers = ["421", "0.2500 [0.200, 0.300]", "0.5000 [0.470, 0.530]", "0.50 %"]
    for page in (markdown.replace("\\", ""), html):
        for text in (*numbers, "95 % intervals: percentile bootstrap", "cpu (x86_64)", "MIT", REVISION, "models.yaml"):
            assert text in page
        assert "Mr. TyDi v1.1 (test) †" in page
        assert "Warning" not in page and "Labels" not in page
    assert "| OK " in markdown and "published of revision" in markdown
    assert "`stele evaluate me5_small --benchmarks mrtydi --languages ko sw --encoding query_length=128`" in markdown
    # passages, cut ones, questions as often as asked, cut ones, seconds, CPU seconds, passages a second
    assert "| mrtydi | 1,000 | 0.50 % | 800 | 0.25 % | 20.0 | 35.4 | 50 |" in " ".join(markdown.split())
    record = json.loads((tmp_path / "cards/me5_small.json").read_text())
    assert record["job"] == "card" and set(record["inputs"]) == {"mrtydi"}


def test_prompts_that_none_used_are_a_warning_and_labels_stand_at_the_head(tmp_path, results):
    markdown, html = card(tmp_path, results(notes=[NOTE], labels=["stand-in checkpoint"]))
    assert "**Warning: its folder names the prompts web\\_query" in markdown
    assert '<p class="labels" role="alert">Warning: its folder names the prompts web_query' in html
    assert "**Labels: stand-in checkpoint.**" in markdown
    assert "not comparable" in markdown and "| OK " not in markdown


def test_what_a_record_holds_cannot_write_into_the_page(tmp_path, results):
    markdown, html = card(tmp_path, results(notes=["<script>alert(1)</script>"], device="<b>|x"))
    assert "<script>alert" not in html + markdown and "<b>|x" not in html + markdown


def test_passages_of_a_collection_count_once_and_queries_each_time_they_are_asked(results):
    job = read([results()])[0].job
    assert (passages(job), queries(job)) == (Amount(1000, 5), Amount(800, 2))
    windows = {"sw": {"pool": "sw", "documents": 4, "windows": 9, "cut_windows": 3, "queries": 2, "cut_queries": 0}}
    assert passages({"searches": windows}) == Amount(9, 3)
    assert passages({"vectors": {"de": {"pairs": 7}, "en": {"pairs": 3}}}) == Amount(10, None)
    pairs = {"de": {"pairs": 7, "cut_queries": 0, "cut_passages": 2}, "en": {"pairs": 3, "cut_queries": 1}}
    assert (queries({"vectors": pairs}), passages({"vectors": pairs})) == (Amount(10, 1), Amount(10, None))
    assert Amount(10, None).share == "not counted" and Amount(8, 1).share == "12.50 %"
    assert [Amount(8_841_823, cut).share for cut in (0, 3, 900)] == ["0.00 %", "< 0.01 %", "0.01 %"]


def test_a_value_that_benchmarks_decide_differently_has_a_line_for_each(results):
    one, other = read([results(), results("miracl")])
    job = other.job | {"encoding": {"query_length": 64}, "encoding_decided_by": {"benchmark": ["query_length"]}}
    lines = [row for row in encoding_rows([one, other._replace(job=job)]) if row[0] == "query_length"]
    assert [row[1:] for row in lines] == [["128", "config.yaml", "mrtydi"], ["64", "the benchmark", "miracl"]]


@pytest.mark.parametrize(
    ("model", "scale", "languages", "repository", "words"),
    [
        ("me5_small", "paper", "ar bn en fi id ja ko ru sw te th", HUB, "me5_small --benchmarks mrtydi"),
        ("mine", "paper", "ar bn en fi id ja ko ru sw te th", "a/mine", "a/mine --benchmarks mrtydi"),
        ("mine", "miniature", "sw", None, "FOLDER --name mine --benchmarks mrtydi --languages sw --scale miniature"),
    ],
)
def test_the_command_names_what_was_given_and_no_more(results, model, scale, languages, repository, words):
    (one,) = read([results(model=model, languages=languages.split())])
    checkpoint = {"job": "sources checkpoint", "model": model, "repository": repository}
    job = {**one.job, "encoding_decided_by": {"folder": [*ENCODING]}}
    given = Evaluated(one.result, {**one.record, "ancestry": {"a": checkpoint}}, job)
    assert reproduce_command([given], scale) == f"stele evaluate {words}"


def test_a_card_of_two_names_is_written_again(results, tmp_path):
    """Each file has its record beside it, by which the next call knows it."""
    call = ["tables", "card", "--results", str(results()), "--output", f"{tmp_path}/a.md", f"{tmp_path}/b.html"]
    assert cli.main(call) == 0 and cli.main(call) == 0


def test_the_command_of_a_known_model_in_a_folder_and_of_a_prompt_of_two_lines(results):
    (one,) = read([results()])
    job = {**one.job, "encoding": {"query_prompt": "Instruct: a\nQuery: "}}
    job["encoding_decided_by"] = {"config": ["query_prompt"]}
    checkpoint = {"job": "sources checkpoint", "model": "me5_small", "repository": None}
    given = [Evaluated(one.result, {**one.record, "ancestry": {"a": checkpoint}}, job)]
    assert reproduce_command(given, "paper").startswith("stele evaluate FOLDER --name me5_small ")
    assert encoding_in_command(given) == job["encoding"]


def test_the_command_has_what_the_first_benchmark_decides_otherwise(results):
    """Tatoeba gives both sides the prompt of queries; other benchmarks take the passages' one from config.yaml."""
    prompts = {"query_prompt": "q: ", "passage_prompt": "p: "}
    aligned = {"encoding": prompts | {"passage_prompt": "q: "}}
    aligned["encoding_decided_by"] = {"benchmark": ["passage_prompt"], "config": ["query_prompt"]}
    searched = {"encoding": prompts, "encoding_decided_by": {"config": [*prompts]}}
    assert encoding_in_command(read([results("tatoeba", **aligned), results(**searched)])) == prompts


def test_the_command_shortens_only_the_lengths_that_max_length_shortened(results):
    """`max_length: 64` over the lengths of two benchmarks: 32 and 256, then 128 and 256."""
    lengths = {"query_length": 64, "passage_length": 64}
    one = {"encoding": lengths | {"query_length": 32}}
    one["encoding_decided_by"] = {"benchmark": ["query_length"], "config": ["passage_length"]}
    other = {"encoding": lengths, "encoding_decided_by": {"config": [*lengths]}}
    read_back = read([results(**one), results("miracl", **other)])
    assert encoding_in_command(read_back) == {"max_length": 64, "passage_length": 64}


def test_the_command_can_choose_no_dimension_and_no_layer(results):
    chosen = {"dimension": None, "layer": None}
    read_back = read([results(encoding=chosen, encoding_decided_by={"config": [*chosen]})])
    assert encoding_in_command(read_back) == chosen


def test_the_command_names_no_languages_that_only_the_scale_chose(results):
    """With --languages Belebele would lack hin_Latn, which is no language of config.yaml."""
    read_back = read([results("belebele", languages=["hin_Latn-en", "en-en"]), results(languages=["sw"])])
    words = shlex.split(reproduce_command(read_back, "one_gpu"))
    assert "--languages" not in words and words[-4:-2] == ["--scale", "one_gpu"]


def test_what_was_encoded_before_counts_where_it_is_searched(results):
    job = read([results(encoded_before={"fa": {"wall_seconds": 5.0, "cpu_seconds": 9.0}})])[0].job
    assert (seconds(job, "wall_seconds"), seconds(job, "cpu_seconds")) == (25.0, 44.4)


def test_a_folder_goes_by_its_content_and_several_processes_are_said(tmp_path, results):
    path = results(processes=2)
    record = json.loads(path.read_text())
    record["ancestry"]["a"] = {"job": "sources checkpoint", "model": "me5_small", "content": "0123456789abcdef0123"}
    write_sealed(path, record)
    markdown, _ = card(tmp_path, path)
    assert "a folder, content 0123456789abcdef" in markdown and ", 2 processes" in markdown


def test_an_average_of_the_same_questions_has_no_interval_and_says_why(tmp_path, results):
    path = results("belebele", languages=("ko-ko", "sw-sw"))
    markdown, _ = card(tmp_path, path)
    assert "an average over languages with the same questions has none" in markdown


def test_results_of_two_models_and_those_without_a_retrieval_by_an_encoder_are_refused(tmp_path, results, capsys):
    first, second = results(), results(model="me5_base")
    out = ["--output", str(tmp_path / "card.md")]
    assert cli.main(["tables", "card", "--results", str(first), str(second), *out]) == 1
    assert "want the results of one model for a card, found me5_base, me5_small" in capsys.readouterr().err
    write_sealed(first.with_suffix("") / "retrieval.json", {"job": "lexical", "searches": {}})
    assert cli.main(["tables", "card", "--results", str(first), *out]) == 1
    assert "no encoder made it; a card needs a model that encodes texts" in capsys.readouterr().err
    (first.with_suffix("") / "retrieval.json").unlink()
    assert cli.main(["tables", "card", "--results", str(first), *out]) == 1
    assert "want retrieval.json or vectors.json" in capsys.readouterr().err
    assert not (tmp_path / "card.md").exists()


def test_the_command_of_a_card_has_the_folder_of_its_results_and_of_the_users_data(tmp_path, results):
    usual = results()
    usual.parents[3].rename(tmp_path / "mine")
    path = tmp_path / "mine" / usual.relative_to(tmp_path / "results_evaluate")
    for page in card(tmp_path, path, options=["--user-data", "lareqa", "mrtydi"]):
        assert "--encoding query_length=128 --configfile FILE --results-dir mine" in page
        assert "your folders of lareqa, mrtydi" in page
    assert "FILE" not in card(tmp_path, path)[0]
