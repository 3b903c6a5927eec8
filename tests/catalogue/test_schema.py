"""Every key of every file of facts, one at a time misspelt, added, left out, of another type or out of range.

The changes are made from the files themselves. Entries of one shape (the languages, a dataset's files) are many: of
each shape, every key of the first few is changed.
"""

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from stele import catalogue
from stele.errors import SteleError
from stele.snakemake_support import hooks
from stele.snakemake_support.validate_catalogue import FILES as PRODUCT
from stele.snakemake_support.validate_catalogue import validate_catalogue
from stele_world import schema as world

FILES = {**PRODUCT, **world.FILES}
FEW = 2  # entries of a shape
CONCEPTS = "stele_world/content/concepts.yaml"
# maps whose keys are names that whoever adds an entry chooses, or which another place gives: any name is valid there
NAMES = {
    "catalogue/languages.yaml": ["", "*.world.cognates", "*.world.changes", "*.world.spelling"],
    "catalogue/datasets.yaml": ["", "*.fields", "*.counts", "*.counts.*.expect", "*.files.*.sha256", "*.files.*.bytes"],
    "catalogue/recipes.yaml": [
        *("languages", "pairs", "pretraining", "finetuning", "calibration", "title_queries", "reranking", "answering"),
        "pretraining.*.mining",
        *("generators", "generators.*.by_language", "generated_queries", "generated_queries.*.collections"),
    ],
    "catalogue/models.yaml": ["", "*.override.mining"],
    "catalogue/standins.yaml": [""],
    "catalogue/benchmarks.yaml": [""],
    "catalogue/training_sets.yaml": [""],
    "catalogue/settings.yaml": ["settings", "aliases"],
    "catalogue/rules.yaml": [""],
    "catalogue/analyzers.yaml": [""],
    "catalogue/costs.yaml": ["texts", "benchmarks", "judged", "answered", "training_sets", "datasets", "example_text"],
    "catalogue/published.yaml": ["", "*.instructions", "*.unlike"],
    "catalogue/reference_sources.yaml": [
        *("mteb.tasks", "mteb.tasks.*.metrics", "mteb.tasks.*.means"),
        *("pyserini.files", "pyserini.files.*.metrics", "pyserini.models", "pyserini.same_engine"),
    ],
    "catalogue/devices.yaml": [""],
    "catalogue/checkpoint_sizes.yaml": [""],
    "catalogue/cc100_sizes.yaml": [""],
    "catalogue/dump_sizes.yaml": [""],
    "stele_world/content/concepts.yaml": ["types", "types.*.relations", "classes"],
    "stele_world/language/scripts.yaml": ["", "*.letters", "*.signs", "*.vowels", "*.initial", "*.final", "*.stops"],
    "evaluation/metrics/ranx.yaml": [""],
    "tables/render/bibliography.yaml": ["benchmarks", "entries"],
}
NAMES["stele_world/writers/namespaces.yaml"] = [""]
NAMES["stele_world/writers/collections.yaml"] = ["collections", "clef.papers", "collections.*.beside"]
NAMES["catalogue/settings.yaml"] += [f"{key}.*" for key in NAMES["catalogue/settings.yaml"]]
NAMES["stele_world/language/scripts.yaml"] += ["*.initials", "*.medials", "*.finals", "*.rows", "*.merged"]
OF_A_SCALE = [
    *("benchmarks", "standins", "pairs", "pretraining", "pretraining_languages", "finetuning", "calibration", "models"),
    *("title_queries", "generators", "generated_queries", "reranking", "answering"),
]
# keys that must not be left out; all others may be, or are refused as well
REQUIRED = {
    "catalogue/languages.yaml": ["*.name", "*.script", "*.family", "*.world.order", "*.world.syllables.codas"],
    "catalogue/datasets.yaml": ["*.title", "*.version", "*.parts", "*.files", "*.files.*.path", "*.licence", "*.wall"],
    "catalogue/recipes.yaml": [
        *("languages", "pairs", "pretraining", "finetuning", "pairs.*.method", "pretraining.*.objective"),
        *("pretraining.*.mining", "pretraining.*.languages", "pretraining.*.learning_rate", "finetuning.*.start"),
        *("finetuning.*.training_set", "finetuning.*.batch", "finetuning.*.learning_rate"),
        *("generators.*.by_language", "generators.*.pairs", "generators.*.by_language.*.model"),
        *("generated_queries.*.generator", "generated_queries.*.collections", "generated_queries.*.windows"),
    ],
    "catalogue/models.yaml": ["*.label", "*.base", "*.released.dataset"],
    "catalogue/standins.yaml": ["*.kind", "*.steps"],
    "catalogue/benchmarks.yaml": ["*.title", "*.languages", "*.data", "*.judgments", "*.metrics", "*.large.layer"],
    "catalogue/training_sets.yaml": ["*.module", "*.data", "*.mined.depth"],
    "catalogue/settings.yaml": ["settings", "aliases", "settings.*.*.kind"],
    "catalogue/costs.yaml": ["*", "rates.*", "fill.*", "seconds.*", "texts.*.mean", "shares.*", "benchmarks.*.queries"],
    "catalogue/devices.yaml": ["*.*"],
    "catalogue/checkpoint_sizes.yaml": ["*.layers", "*.width", "*.inner", "*.vocabulary", "*.bytes"],
    "stele_world/content/concepts.yaml": ["*", "types.*.words", "types.*.relations.*.ask", "types.*.definition.noun"],
    "stele_world/language/scripts.yaml": ["*.kind"],
    "evaluation/metrics/ranx.yaml": ["*.ranx"],
    "tables/render/bibliography.yaml": ["benchmarks", "entries", "entries.*.title", "entries.*.year"],
}


def unshared(value):
    """A copy in which nothing that an anchor of YAML put in two places is one object."""
    if isinstance(value, dict):
        return {key: unshared(item) for key, item in value.items()}
    return [unshared(item) for item in value] if isinstance(value, list) else value


def names_of(file: str) -> list[str]:
    return NAMES.get(file, OF_A_SCALE)


def among(place: str, patterns: list[str]) -> bool:
    parts = place.split(".")
    return any(len(parts) == len(p.split(".")) and all(map(fnmatchcase, parts, p.split("."))) for p in patterns)


def places(file: str, values) -> Iterator[tuple[tuple, str, bool]]:
    """(keys, shape, whether the last of them is a name) of every value below, the first FEW of each shape."""
    seen: Counter[str] = Counter()

    def below(value, keys, shape):
        items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        named = isinstance(value, list) or among(shape, names_of(file))
        for key, item in items:
            inner = f"{shape}.{'*' if named else key}".lstrip(".")
            seen[inner] += 1
            if seen[inner] <= FEW or not named:
                yield (*keys, key), inner, named
                yield from below(item, (*keys, key), inner)

    every: Counter[str] = Counter()
    for keys, shape, named in below(values, (), ""):
        every[shape] += 1
        if every[shape] <= FEW:
            yield keys, shape, named


def parent(values, keys):
    for key in keys[:-1]:
        values = values[key]
    return values


def wrong_type(value):
    """For a text, a yes and a null a list of no texts, for a number a text, for a list or mapping a number."""
    return [[]] if isinstance(value, str | bool | None) else "a text" if isinstance(value, int | float) else 7


def contents(file: str):
    return unshared(world.read(file) if file in world.FILES else catalogue.shipped(file))


def refusal(file: str, values) -> str | None:
    try:
        FILES[file](values, file)
    except SteleError as error:
        return str(error)
    return None


def refusal_of(file: str, values, keys, change) -> str | None:
    """What is said of the file with one value changed, which is as before afterwards."""
    holder = parent(values, keys)
    before = holder.copy()
    change(holder)
    said = refusal(file, values)
    holder.clear()
    holder.update(before) if isinstance(holder, dict) else holder.extend(before)
    return said


def fault(said: str | None, file: str, *parts: str) -> bool:
    """Whether an error is not one sentence with the file and the parts in it."""
    return said is None or "\n" in said or not said.startswith(f"{file}: ") or any(part not in said for part in parts)


def none_of(faults: list[str]) -> None:
    """Changes that were accepted, or refused in the wrong words."""
    assert not faults, f"{len(faults)} of them:\n" + "\n".join(faults[:20])


def test_every_file_is_as_its_model_has_it(root):
    validate_catalogue()
    world.check_files()
    folder = root / "src/stele"
    shipped = {path.relative_to(folder).as_posix() for path in folder.rglob("*.yaml")}
    shipped |= {path.relative_to(root / "src").as_posix() for path in (root / "src/stele_world").rglob("*.yaml")}
    assert shipped == set(FILES)
    assert {*NAMES, *REQUIRED} <= shipped


@pytest.mark.parametrize("file", FILES)
def test_a_misspelt_key_and_one_too_many_are_named_with_the_nearest(file):
    faults, values = [], contents(file)
    holders = set()
    for keys, _, named in list(places(file, values)):
        key = keys[-1]
        if named or not isinstance(key, str):
            continue
        slip = key[0] + key
        said = refusal_of(file, values, keys, lambda holder, k=key, slip=slip: holder.update({slip: holder.pop(k)}))
        if fault(said, file, f"unknown key '{'.'.join(map(str, (*keys[:-1], slip)))}'; did you mean {key!r}?"):
            faults.append(f"{keys} as {slip}: {said}")
        if keys[:-1] in holders:
            continue
        holders.add(keys[:-1])
        said = refusal_of(file, values, keys, lambda holder: holder.update(quite_unheard_of=1))
        if fault(said, file, f"unknown key '{'.'.join(map(str, (*keys[:-1], 'quite_unheard_of')))}'"):
            faults.append(f"{keys[:-1]} and a key more: {said}")
    none_of(faults)


@pytest.mark.parametrize("file", FILES)
def test_a_key_that_is_missing_is_named(file):
    faults, values, required = [], contents(file), REQUIRED.get(file, ["title", "generated"])
    for keys, shape, named in list(places(file, values)):
        key = keys[-1]
        if named or keys == ("like",):  # without the other scale what that held is missing, and named
            continue
        said = refusal_of(file, values, keys, lambda holder, key=key: holder.pop(key))
        if (said is not None or among(shape, required)) and fault(said, file, str(keys[0]), str(key)):
            faults.append(f"{keys}: {said}")
    none_of(faults)


@pytest.mark.parametrize("file", FILES)
def test_a_value_of_another_type_is_named(file):
    faults, values = [], contents(file)
    for keys, _, _ in list(places(file, values)):
        key, wrong = keys[-1], wrong_type(parent(values, keys)[keys[-1]])
        said = refusal_of(file, values, keys, lambda holder, key=key, wrong=wrong: holder.__setitem__(key, wrong))
        told = "unknown key" if "unknown key" in (said or "") else "(found "  # where a mapping may stand
        if fault(said, file, ".".join(map(str, keys)), told):
            faults.append(f"{keys}: {wrong!r}: {said}")
    none_of(faults)


@pytest.mark.parametrize("file", FILES)
def test_a_number_out_of_range_is_named(file):
    faults, values = [], contents(file)
    for keys, _, _ in list(places(file, values)):
        key, value = keys[-1], parent(values, keys)[keys[-1]]
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        said = refusal_of(file, values, keys, lambda holder, key=key: holder.__setitem__(key, -1))
        if fault(said, file, ".".join(map(str, keys)), "-1"):
            faults.append(f"{keys}: {said}")
    none_of(faults)


@pytest.mark.parametrize(
    ("file", "keys", "value", "parts"),
    [
        ("catalogue/models.yaml", ("msm", "base"), "xlm", ["msm.base", "'xlm'", "'xlmr'"]),
        ("catalogue/models.yaml", ("msm_sep_doc", "override", "document_encoder"), "shard", ["'shard'", "'shared'"]),
        ("catalogue/recipes.yaml", ("finetuning", "mrtydi", "start"), "macro", ["mrtydi.start", "'macro'", "'marco'"]),
        ("catalogue/recipes.yaml", ("pretraining", "msm", "objective"), "mms", ["msm.objective", "'mms'", "'msm'"]),
        ("catalogue/recipes.yaml", ("pretraining", "msm", "languages"), "cc18", ["msm.languages", "'cc18'", "'cc108'"]),
        ("catalogue/recipes.yaml", ("pairs", "chunks", "corpus"), "wikpedia", ["chunks.corpus", "'wikipedia'"]),
        ("catalogue/languages.yaml", ("fi", "world", "coverage"), 1.5, ["fi.world.coverage", "1.5"]),
        ("catalogue/languages.yaml", ("fi", "tatoeba"), False, ["fi.tatoeba", "no or off"]),
        ("catalogue/datasets.yaml", ("clef", "wall"), "license", ["clef.wall", "'license'", "'licence'"]),
        ("catalogue/datasets.yaml", ("cc100", "version"), 2020, ["cc100.version", "put them in quotes"]),
        ("catalogue/benchmarks.yaml", ("mrtydi", "metrics"), ["mrr@many"], ["mrtydi.metrics.0", "mrr@many"]),
        ("catalogue/standins.yaml", ("labse", "bases"), ["mbrt"], ["labse.bases", "'mbrt'", "'mbert'"]),
        ("catalogue/scales/small.yaml", ("languages",), ["en", "swa"], ["languages.1", "'swa'"]),
        (
            CONCEPTS,
            ("types", "city", "relations", "mayor", "value"),
            "persn",
            ["mayor.value", "'person'"],
        ),
    ],
)
def test_a_wrong_name_or_share_is_said_with_the_nearest(file, keys, value, parts):
    values = contents(file)
    parent(values, keys)[keys[-1]] = value
    assert not fault(said := refusal(file, values), file, *parts), said


def test_the_workflow_is_not_read_with_a_wrong_file(monkeypatch, tmp_path):
    """The driver says the sentence, before it reads anything else."""
    from snakemake.exceptions import WorkflowError

    monkeypatch.chdir(tmp_path)  # where no check is noted
    broken = {"msm": {"label": "MSM", "tabels": ["msm/2"], "kind": "lexical"}}
    shipped = catalogue.shipped
    monkeypatch.setattr(catalogue, "shipped", lambda name: broken if name == "catalogue/models.yaml" else shipped(name))

    class Workflow:
        is_main_process, remote_exec = True, False

    monkeypatch.setattr(hooks, "_environment", lambda root, main: None)
    monkeypatch.setattr(hooks.job_environment, "prepare_software", lambda workflow, root: "")
    with pytest.raises(
        WorkflowError, match=r"^catalogue/models\.yaml: unknown key 'msm\.tabels'; did you mean 'tables'"
    ):
        hooks.setup({}, Workflow, Path())
