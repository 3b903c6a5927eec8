"""Checks of the recipes, models and settings in config.yaml and in a user's scale, before anything is built."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stele import catalogue
from stele.benchmarks.reader import AnsweringReader, BenchmarkReader, RetrievalReader
from stele.catalogue import recipes
from stele.catalogue.scales import refuse_fixed
from stele.catalogue.schema.benchmarks import metric_parts
from stele.catalogue.schema.datasets import Dataset
from stele.config.scale import scale_values
from stele.config.sources import Sources
from stele.errors import SteleError, check_known, unknown
from stele.evaluation.metric import KINDS
from stele.evaluation.metrics import load_metric
from stele.files.strict import Values
from stele.plan.data import reader_of
from stele.plan.plan import Plan
from stele.plan.rows import check_settings, kind_named
from stele.recipes.pretraining import OBJECTIVES, parse_recipe
from stele.registry import module_names

RANKING = ("retrieve", "bm25", "fuse")  # rules whose jobs keep `depth` passages of each ranking
MINED_WITH = {  # a length in pretraining -> the key or property of the mining recipe that limits the same texts
    "sentence_length": "unit_tokens",
    "mlm_length": "length",
    "length": "passage_tokens",
    "query_length": "query_tokens",
    "block_length": "block_tokens",
}
READ = {"retrieval": RetrievalReader, "answers": AnsweringReader}  # what a kind of row scores -> reader that it needs


def check(plan: Plan, where: Sources) -> None:
    """Raises SteleError for values that a job would refuse only hours later, and for names that nothing reads."""
    settings = plan.settings.config.add_settings
    check_settings({"settings": settings, "aliases": {}}, where.name("add_settings"), "add_settings")
    for benchmark, entries in settings.items():
        for name, entry in entries.items():
            _check_names_of_setting(plan, benchmark, entry, where("add_settings", benchmark, name))
            _check_shared_collections(plan, benchmark, name, where("add_settings", benchmark, name))
    for benchmark, entry in plan.settings.config.add_benchmarks.items():
        reader = reader_of(benchmark, BenchmarkReader)
        _check_metrics(entry.metrics, where("add_benchmarks", benchmark, "metrics"), reader and reader.SCORED_BY)
        names = plan.data.of_benchmark(benchmark)
        read = {code: plan.data.records(names, entry.documents_in or [code]) for code in entry.languages}
        if lacking := ", ".join(code for code, records in read.items() if not records):
            place = where("add_benchmarks", benchmark, "languages")
            raise SteleError(f"{place}: none of {', '.join(names)} has {lacking}; leave out what no dataset has")
        _check_depth(plan, benchmark, where("add_benchmarks", benchmark, "depth"))
    if plan.settings.scale not in catalogue.scale_names():
        check_models_of_scale(plan)
    for key, model in plan.settings.config.models.items():
        if model.override or plan.models.is_trained(key):
            _check_pretraining(plan, key, model.override, where("models", key, "override"))
        elif (model.base or model.recipe) and plan.models[key].checkpoint not in (None, "released"):
            raise SteleError(
                f"{where('models', key)}: {key} is read from a checkpoint, so `base` and `recipe` have no effect; "
                "leave them out, or give `checkpoint: train`"
            )


def _check_names_of_setting(plan: Plan, benchmark: str, entry: Values, place: str) -> None:
    """Checks the kind of a user's setting, and the models, settings, datasets and metrics that it names."""
    if wanted := READ.get(kind_named(entry["kind"]).scored):
        try:
            reader_of(benchmark, wanted)
        except SteleError as error:
            raise SteleError(f"{place}.kind: {entry['kind']}: {error}") from None
    of_benchmark = plan.protocols.settings[benchmark]
    known: dict[str, tuple[str, Iterable[str]]] = {
        "term": ("lexical model", filter(plan.models.is_lexical, plan.models.all)),
        "dense": ("setting", [name for name, other in of_benchmark.items() if other["kind"] != "fused"]),
        "data": ("dataset", catalogue.entries(Dataset)),
        "judgments": ("dataset", catalogue.entries(Dataset)),
    }
    for key in known.keys() & entry.keys():
        kind, valid = known[key]
        names = entry[key] if isinstance(entry[key], list) else [entry[key]]
        _check_names(kind, filter(None, names), [*valid], f"{place}.{key}")
    _check_metrics(entry.get("metrics") or (), f"{place}.metrics")
    pairs = [plan.calibration.pair(benchmark, code) for code in plan.data.languages(benchmark)]
    if "calibration" in entry and (single := [pair for pair in pairs if len({*pair.split("-")}) != 2]):
        wanted = "languages in pairs, as de-en, or a `pivot` of the benchmark"
        raise SteleError(f"{place}.calibration: want {wanted} (found {', '.join(single)})")


def _check_shared_collections(plan: Plan, benchmark: str, name: str, place: str) -> None:
    """Refuses a dense setting whose documents another benchmark's setting of the same name would encode otherwise."""
    owner = plan.data.benchmark(benchmark).collections_of
    entry, other = (plan.protocols.settings.get(searched, {}).get(name, {}) for searched in (benchmark, owner))
    alike = all(entry.get(key) == other.get(key) for key in ("kind", "recipe", "windows"))
    if owner and entry["kind"] == "dense" and not alike:
        wanted = "give that one the same recipe and windows"
        raise SteleError(f"{place}: it searches documents that {owner}'s setting {name} encodes; {wanted}")


def _check_depth(plan: Plan, benchmark: str, place: str) -> None:
    """Refuses a benchmark of rankings without a depth, or with a smaller one than its metrics look at."""
    entry = plan.data.benchmark(benchmark)
    kinds = [kind_named(setting["kind"]) for setting in plan.protocols.settings[benchmark].values()]
    if not any(kind.rule in RANKING and kind.scored == "retrieval" for kind in kinds):
        return
    cuts = [int(cut) for _, cut in map(metric_parts, entry.metrics) if cut.isdigit()]
    deepest = max(cuts, default=1)
    if entry.depth is None:
        raise SteleError(f"{place}: missing; say how many passages of a ranking are kept, at least {deepest}")
    if entry.depth < deepest:
        raise SteleError(f"{place}: {entry.depth} is less than the metrics look at (@{deepest}); give {deepest}")


def _check_metrics(names: Iterable[str], place: str, scored: str | None = None) -> None:
    """Refuses unknown metrics, wrong cuts and, for a benchmark's own metrics, what scores another kind of data."""
    for name in names:
        try:
            needed = load_metric(name).needs
        except SteleError as error:
            raise SteleError(f"{place}: {error}") from None
        if scored not in (None, needed) and needed != "vectors":  # such a setting works on any benchmark
            raise SteleError(f"{place}: metric {name} scores {KINDS[needed]}; the benchmark has {KINDS[scored]}")


def _check_pretraining(plan: Plan, key: str, changes: Values, place: str) -> None:
    """Checks the recipe of a model with the given changes; `place` names their place in messages."""
    if not plan.models.is_trained(key):
        raise SteleError(f"{place}: {key} is not pretrained here: give `base` and `recipe`, and no `checkpoint`")
    refuse_fixed(changes, place)
    if "objective" in changes:
        _check_names("objective", [changes["objective"]], module_names(OBJECTIVES), f"{place}.objective")
    if isinstance(languages := changes.get("languages", []), str):
        _check_names("set of languages", [languages], recipes.names("languages"), f"{place}.languages")
    elif isinstance(languages, list):
        _check_languages(plan, languages, f"{place}.languages")
    else:
        raise SteleError(f"{place}.languages: want codes, e.g. [en, sw], or the name of a set (found {languages!r})")
    mining = changes.get("mining", {})
    if not isinstance(mining, Mapping):
        raise SteleError(f"{place}.mining: want a mining recipe by store, e.g. {{msm: msm_blocks}} (found {mining!r})")
    _check_names("mining recipe", mining.values(), recipes.names("pairs"), f"{place}.mining")
    try:
        values = plan.pretraining.values(key)
    except SteleError as error:  # a key that the recipe lacks
        raise SteleError(f"{place.partition(': ')[0]}: {error}") from None
    parse_recipe(values, place)  # an error message names this place
    _check_equal_compute(plan, key, f"{place}.equal_compute_to")
    recipe = plan.pretraining.recipe(key)
    for store in sorted(recipe.stores_read() - recipe.mining.keys()):
        raise SteleError(f"{place}.mining: no mining recipe for {store}, which {recipe.objective} reads; name one")
    for store, name in plan.pretraining.stores(key).items():
        if (method := plan.mining.recipe(name).method) != store:
            raise SteleError(f"{place}.mining: {store}: {name} is a recipe of method {method}; want one of {store}")
    if reason := plan.pretraining.too_long(key):
        raise SteleError(f"{place}: {reason}; give a smaller number, or a base that reads more")
    _check_mined_lengths(plan, key, changes, place)
    _check_texts(plan, key, f"{place}.languages")
    if problem := plan.models.standin_problem("pretraining", plan.models[key].recipe, key):
        raise SteleError(f"{place.rpartition('.')[0]}: {problem[1]}")


def _check_mined_lengths(plan: Plan, key: str, changes: Values, place: str) -> None:
    """Refuses a length above that of the mined texts, which would change nothing."""
    for name in plan.pretraining.stores(key).values():
        for changed in sorted(changes.keys() & MINED_WITH.keys()):
            length, most = changes[changed], getattr(plan.mining.recipe(name), MINED_WITH[changed], None)
            if None not in (length, most) and length > most:
                way_out = f"change that in your scale, too (`pairs: {{{name}: ...}}`)"
                raise SteleError(f"{place}.{changed}: {length}, but {name} mines at most {most} tokens; {way_out}")


def _check_equal_compute(plan: Plan, key: str, place: str) -> None:
    """Refuses an `equal_compute_to` model that is not pretrained here or has no number of steps of its own."""
    if (other := plan.pretraining.values(key).get("equal_compute_to")) is None:
        return
    _check_names("pretrained model", [other], [*filter(plan.models.is_trained, plan.models.all)], place)
    if plan.pretraining.values(other).get("steps") is None:
        raise SteleError(f"{place}: the recipe of {other} has no `steps`; name a model whose recipe has `steps`")


def _check_texts(plan: Plan, key: str, place: str) -> None:
    """Refuses languages without text in a model's pretraining dataset."""
    if reason := plan.pretraining.without_documents(key):
        raise SteleError(f"{place}: {reason}")
    for dataset, part in plan.pretraining.texts(key):
        check_known(f"language of {dataset}", part, plan.data.parts(dataset), place)
    wanted = plan.pretraining.values(key)["languages"]
    if reason := plan.pretraining.lacking(key, wanted):
        raise SteleError(f"{place}: {reason}; give more languages, or `tasks` without it")


def _check_languages(plan: Plan, codes: Iterable[str], place: str) -> None:
    known = plan.settings.languages
    for code in codes:
        if str(code) not in known and not isinstance(code, bool):  # the recipe's check says how YAML reads `no`
            hint = "To add another language, use `add_languages` (docs/adding/language.md)"
            raise SteleError(f"{unknown('language', str(code), known, place)}. {hint}")


def _check_names(kind: str, names: Iterable[Any], valid: Collection[str], place: str) -> None:
    for name in names:
        check_known(kind, str(name), valid, place)


def check_models_of_scale(plan: Plan) -> None:
    """Checks the changes of models in a user's scale, including models of config.yaml."""
    sizes, name = plan.settings.sizes, plan.settings.scale
    of_file = scale_values(name).get("pretraining", {})
    _check_names("model", sizes.models, plan.models.all, f"{name}: models")
    for key, changes in sizes.models.items():
        _check_pretraining(plan, key, changes, f"{name}: models.{key}")
    for key in filter(plan.models.is_trained, plan.models.all):
        if (recipe := plan.models[key].recipe) not in sizes.pretraining:
            continue
        if reason := plan.pretraining.too_long(key):
            way_out = "give a smaller number, or change single models (`models:`)"
            raise SteleError(f"{name}: pretraining.{recipe}: {reason}; {way_out}")
        changes = {changed: plan.pretraining.values(key)[changed] for changed in of_file.get(recipe, {})}
        _check_mined_lengths(plan, key, changes, f"{name}: pretraining.{recipe}")
