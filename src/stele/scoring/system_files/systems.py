"""Reads a system's output files and a benchmark's gold files into a `Case`, the input of metrics."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stele import catalogue
from stele.artifacts.records import LIMITED, Record
from stele.artifacts.run import Run, merged, run_of, without
from stele.artifacts.run_files import collection_size
from stele.benchmarks._files import below
from stele.benchmarks.load import load_reader, stated_left_out
from stele.benchmarks.reader import BenchmarkReader
from stele.benchmarks.types import Data, QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError, unknown
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import Scores
from stele.evaluation.similarity import nearest
from stele.files.digests import digest, sha256
from stele.scoring.system_files.formats import Output, output_paths, read_output

Pair = tuple[np.ndarray, np.ndarray]  # embeddings whose rows belong together
logger = logging.getLogger(__name__)


def given_outputs(runs: Iterable[str]) -> list[tuple[str | None, Output]]:
    """Reads the outputs of `--run [QUERY_SET=]FILE ...`, each with the query set or language named for it."""
    return [(name, read_output(path)) for name, path in map(_named, runs)]


def _named(item: str) -> tuple[str | None, str]:
    """Name, if there is one, and path of `[NAME=]PATH`; a file that exists may have "=" in its path, as lr=1e-5/a.csv.

    >>> _named("sw=run.txt")
    ('sw', 'run.txt')
    """
    name, equals, path = item.partition("=")
    return (name, path) if equals and not all(part.exists() for part in output_paths(item)) else (None, item)


def given_digests(files: Iterable[str]) -> dict[str, str]:
    """Digests by file argument: a file's SHA-256, a folder's digest, those of a pair joined by a blank."""
    return {file: " ".join(map(_digest, output_paths(_named(file)[1]))) for file in files}


def _digest(path: Path) -> str:
    if not path.is_dir():
        return sha256(path)
    return digest({file.relative_to(path).as_posix(): sha256(file) for file in below(path)})


def read_case(
    name: str, data: Data, outputs: Sequence[tuple[str | None, Output]], languages: Collection[str] | None = None
) -> Case:
    """Reads one system's outputs and the judgments of a benchmark.

    A run that names no query set is divided by the judged queries. `languages` restricts the judged languages; the
    default is every language with judgments (for a retrieval record, all its query sets). Raises SteleError if runs and
    judgments are of different data, or a file does not say which query set it holds.
    """
    benchmark, case = load_reader(name, BenchmarkReader), Case(data=data)
    if any(output.vectors for _, output in outputs):
        if not all(output.vectors for _, output in outputs):
            raise SteleError("--run: embeddings and runs cannot be scored together")
        pairs = [(made or named, output, pair) for named, output in outputs for made, pair in output.vectors.items()]
        if wrong := set(languages or ()) - (known := {language for language, _, _ in pairs}):
            raise unknown("language", min(wrong), known - {None}, "--languages")
        for language, output, pair in pairs:
            if languages is None or language in languages:
                _add_pair(case, benchmark, language, output, pair)
        return case
    query_sets = _query_sets(name, benchmark, data, outputs, languages)
    gold = benchmark.judgments if benchmark.SCORED_BY == "judgments" else benchmark.answers
    rights = {query_set: _translations(outputs, query_set) or gold(data, query_set) for query_set in query_sets}
    if benchmark.SCORED_BY == "predictions":
        _add_answers(case, rights, outputs)
    else:
        _add_runs(case, name, rights, outputs)
    # a search of ours may find nothing in a language, as BM25 where no term matches
    empty = {made.name for _, output in outputs if output.record for made, run in output.runs.items() if not len(run)}
    for query_set, rows in case.rows_of.items():
        if len(rights) > 1 and rows and case.missing[query_set] == len(rows) and query_set not in empty:
            raise SteleError(
                f"{', '.join(str(output.path) for _, output in outputs)}: found none of the {len(rows)} judged queries "
                f"of {query_set}; give its run, or leave out its judgments (--languages names the languages to score)"
            )
    if sum(case.missing.values()) == len(case.queries) and not empty:
        raise SteleError(f"{outputs[0][1].path}: none of its queries is judged; give judgments of the same data")
    return case


def run_scores(name: str, data: Data, runs: Sequence[str], metrics: Sequence[str] | None = None) -> Scores:
    """Scores runs, `[QUERY_SET=]FILE` each, per query, by the benchmark's own metrics or by `metrics`."""
    outputs = given_outputs(runs)
    case = read_case(name, data, outputs)
    names = metrics or catalogue.entry(Benchmark, name).metrics
    return Scores(
        source=", ".join(runs),
        keys=[(query_set.name, query) for query_set, query in zip(case.query_sets, case.queries, strict=True)],
        languages=[query_set.language for query_set in case.query_sets],
        values={metric: load_metric(metric).values(case)[None, :] for metric in names},
        benchmark=name,
        average=load_reader(name, BenchmarkReader).AVERAGE,
        labels=frozenset(label for _, output in outputs for label in output.record.get("labels", ())),
    )


def _query_sets(
    name, benchmark: BenchmarkReader, data: Data, outputs, languages: Collection[str] | None
) -> list[QuerySet]:
    """Query sets to judge: those of retrieval records, those that the runs name, or all that have judgments."""
    held = [(named, made) for named, output in outputs for made in (*output.runs, *output.answers)]
    possible = [*dict.fromkeys(made for _, made in held if made is not None)]
    entry = catalogue.entry(Benchmark, name)
    parts = {part for dataset in entry.judgments[:1] for part in data.get(dataset, {})}
    whole = not parts or "all" in parts
    known = [code for code in entry.languages if whole or code in parts or parts.issuperset(code.split("-"))]
    known += sorted(parts - {"all", *entry.languages, *(side for code in known for side in code.split("-"))})
    if any(made is None for _, made in held):  # another tool's file, which may hold any query set
        possible += [s for s in benchmark.query_sets(known) if s.name not in {made.name for made in possible}]
    names = {s.name for s in possible}
    for wrong in {named for named, _ in held if named is not None} - names - {s.language for s in possible}:
        raise unknown("query set", wrong, names, "--run")
    if wrong := set(languages or ()) - {s.language for s in possible}:
        raise unknown("language", min(wrong), {s.language for s in possible}, "--languages")
    judged = [s for s in possible if languages is None or s.language in languages]
    chosen = [s for s in judged if any(_holds(named, made, s, names) for named, made in held)]
    if unused := sorted(parts & {s.language for s in judged} - {s.language for s in chosen}):
        logger.warning("--data: judgments of %s without a run are not scored", ", ".join(unused))
    return chosen


def _holds(named: str | None, made: QuerySet | None, query_set: QuerySet, names: Collection[str]) -> bool:
    """Whether an output that is `named` in --run, or was `made` for a query set, holds that of `query_set`.

    A query set's own name means it alone, also where it is its language too, as `de-en`, in which `en-de` is scored.
    """
    if made is None and named in names:
        return named == query_set.name
    return made in (None, query_set) and named in (None, query_set.name, query_set.language)


def _translations(outputs, query_set: QuerySet) -> dict[str, dict[str, int]]:
    """Judgments of Stele's own search of parallel texts, where translations share an id; {} for other outputs."""
    judged: dict[str, dict[str, int]] = {}
    for _, output in outputs:
        if output.record.get("parallel") is True and query_set in output.runs:
            judged |= {query: {query: 1} for query in output.runs[query_set].queries}
    return judged


def _owners(rights: Mapping[QuerySet, Mapping[str, Any]]) -> dict[str, list[QuerySet]]:
    owners: dict[str, list[QuerySet]] = {}
    for query_set, right in rights.items():
        for query in right:
            owners.setdefault(query, []).append(query_set)
    return owners


def _add_runs(case: Case, name: str, rights: Mapping[QuerySet, Mapping[str, Any]], outputs) -> None:
    benchmark = load_reader(name, BenchmarkReader)
    by_query_set: dict[QuerySet, list[tuple[Run, Record]]] = {query_set: [] for query_set in rights}
    texts: dict[str, str] = {}
    limited, owners, names = False, _owners(rights), {query_set.name for query_set in rights}
    for named, output in outputs:
        if output.answers:
            raise SteleError(f"{output.path}: found answers to questions; this benchmark scores rankings of passages")
        limited |= LIMITED in output.record.get("labels", ())
        texts |= output.texts
        _check_languages(output, owners)
        for made, run in output.runs.items():
            matching = [s for s in rights if _holds(named, made, s, names)]
            if made is None:
                _refuse_ambiguous(output, run.queries, _owners({s: rights[s] for s in matching}))
            for query_set in matching:
                by_query_set[query_set].append((run, output.record))
            case.extra += len(set(run.queries).difference(*(rights[query_set] for query_set in matching)))
    for query_set, runs in by_query_set.items():
        right = rights[query_set]
        where = ", ".join(str(output.path) for _, output in outputs)
        run = merged([run for run, _ in runs], keep=right, where=f"the runs of {query_set.name}")
        if limited:  # a limited retrieval is scored on its own queries
            right = {query: answer for query, answer in right.items() if query in run}
        case.add(query_set, list(right))
        case.runs[query_set.name] = counting = without(run, _left_out(name, case.data, query_set, run, where))
        if dropped := len(run.codes) - len(counting.codes):
            logger.info(
                "%s: %d retrieved documents are no hits: the query itself, or excluded", query_set.name, dropped
            )
        if candidates := collection_size((record for _, record in runs), query_set.name):
            case.candidates[query_set.name] = candidates
        case.missing[query_set.name] = sum(query not in run for query in right)
        _check_collection(query_set, run, right)
        (case.relevant if benchmark.SCORED_BY == "judgments" else case.answers).extend(right.values())

    def texts_of(collection: str, names: set[str]) -> Mapping[str, str]:
        elsewhere = names - texts.keys()  # not in the predictions themselves
        known_texts = {name: texts[name] for name in names - elsewhere}
        return known_texts | (benchmark.texts(case.data, collection, elsewhere) if elsewhere else {})

    if benchmark.SCORED_BY == "answers":
        case.texts_of = texts_of


def _left_out(name: str, data: Data, query_set: QuerySet, run: Run, where: str) -> dict[str, frozenset[str]]:
    """Retrieved documents that do not count as hits, by query id, as the benchmark's entry or its layout says."""
    left_out = stated_left_out(name, data, query_set)
    same = [query for query in run.queries if query in run.ranking(query)] if left_out.same_id is None else []
    if same:
        raise SteleError(
            f"{where}: {len(same)} queries of {query_set.name} have a document with their own id ({same[0]}) among "
            f"their hits; say under {name} in `add_benchmarks` of the configuration, or in catalogue/benchmarks.yaml, "
            "`ignore_identical_ids: true` if it is the query itself (as in ArguAna and Quora), or false if it counts"
        )
    return {query: left_out.of(query) for query in run.queries if left_out.of(query)}


def _check_collection(query_set: QuerySet, run: Run, right: Mapping[str, Any]) -> None:
    """Warns if no passage of a run is judged: the system may be poor, or the ids may be another collection's."""
    import pyarrow.compute

    judged = {name for answer in right.values() if isinstance(answer, Mapping) for name in answer}
    is_judged = pyarrow.compute.is_in(run.names, pyarrow.array(judged, run.names.type))
    if judged and len(run.names) and not pyarrow.compute.any(is_judged).as_py():
        logger.warning(
            "%s: none of its %d judged passages is in the run (judged %s, retrieved %s): are both of one collection?",
            query_set.name, len(judged), min(judged), run.names[0].as_py(),
        )  # fmt: skip


def _refuse_ambiguous(output: Output, queries: Iterable[str], owners: Mapping[str, list[QuerySet]]) -> None:
    """Raises SteleError if a query id is in several query sets (as in MLQA and Mr. TyDi) and the file names none."""
    for query in queries:
        if len(candidates := owners.get(query, ())) > 1:
            names = " and ".join(query_set.name for query_set in candidates[:2])
            raise SteleError(f"{output.path}: query {query!r} is in {names}; name one: --run {candidates[0].name}=FILE")


def _check_languages(output: Output, owners: Mapping[str, list[QuerySet]]) -> None:
    """Raises SteleError if a prediction file and the gold file give a question different languages."""
    for query, language in output.languages.items():
        for query_set in owners.get(query, ()):
            if language and language != query_set.language:
                raise SteleError(
                    f"{output.path}: question {query!r}: found lang {language!r}, but the gold file says "
                    f"{query_set.language!r}"
                )


def _add_answers(case: Case, rights: Mapping[QuerySet, Mapping[str, list[str]]], outputs) -> None:
    owners, names = _owners(rights), {query_set.name for query_set in rights}
    predictions: dict[QuerySet, dict[str, str]] = {query_set: {} for query_set in rights}
    for named, output in outputs:
        if not output.answers:
            raise SteleError(f"{output.path}: found a ranking; this benchmark scores answers, {{question id: answer}}")
        for made, given_answers in output.answers.items():
            case.extra += len(given_answers.keys() - owners.keys())
            for query_set, right in rights.items():
                if _holds(named, made, query_set, names):
                    answers = {query: answer for query, answer in given_answers.items() if query in right}
                    if twice := answers.keys() & predictions[query_set].keys():
                        raise SteleError(f"{output.path}: question {min(twice)!r} is answered in two files; drop one")
                    if made is None and named is None:
                        _refuse_ambiguous(output, answers, owners)
                    predictions[query_set] |= answers
    for query_set, right in rights.items():
        case.add(query_set, list(right))
        case.answers.extend(right.values())
        case.predictions.extend(predictions[query_set].get(query) for query in right)
        case.missing[query_set.name] = len(right) - len(predictions[query_set])


def _add_pair(case: Case, benchmark: BenchmarkReader, named: str | None, output: Output, pair: Pair) -> None:
    """Adds the embeddings of a language's sentences and their translations, in both directions if they are ranked."""
    if named is None:
        raise SteleError(f"{output.path}: name the language (or pair) of the embeddings: --run LANGUAGE=X.npy,Y.npy")
    similarity = benchmark.SIMILARITY
    if similarity is None:  # nothing to rank: alignment and uniformity only need vectors
        directions = [(QuerySet(named, named, named), pair)]
    else:
        if not (query_sets := benchmark.query_sets([named])):  # English, which Tatoeba pairs with each language
            raise SteleError(f"--run {named}=...: {named} is the other side of every pair; name the language, as fr=")
        directions = zip(query_sets, (pair, pair[::-1]), strict=True)
    for query_set, (queries, passages) in directions:
        if query_set.name in case.rows_of:
            raise SteleError(f"--run: {named} is given twice; give each language once")
        names = [f"{line:07d}" for line in range(len(queries))]
        case.add(query_set, names)
        case.vectors[query_set.name] = (queries, passages)
        case.candidates[query_set.name] = len(passages)
        case.missing[query_set.name] = 0
        case.relevant.extend({name: 1} for name in names)
        if similarity is not None:
            places, scores = nearest(queries, passages, similarity)
            hits = zip(names, places.tolist(), scores.tolist(), strict=True)
            case.runs[query_set.name] = run_of({query: [(names[place], score)] for query, place, score in hits})
