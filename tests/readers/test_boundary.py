"""Whatever opens or parses a file does so under `reading`, the one boundary, or is named here with who stands for it.

The readers' tests damage files of the readers that somebody listed; this one finds what opens files by the source.
"""

import ast
import re

OPENS = re.compile(
    r"(\w+\.)*(open|open_bytes|open_text|read_text|read_bytes|read_table|read_metadata|read_schema|read_csv|ParquetFile|GzipFile|ZipFile"
    r"|DictReader|decompress|iterparse|fromstring|from_pretrained|safe_open|load_file|literal_eval|safe_load)"
    r"|(np|numpy|json|pickle|yaml|torch)\.loads?|csv\.reader"
)
WRITES = re.compile("[rbt+]*[wax][rbt+]*|r\\+b")
BOUNDARIES = ("reading", "opened", "_opened", "_answer_of")
# what was written by Stele itself; its digest is checked before a command reads it (artifacts/integrity.py)
CHECKED = {
    "pretraining/inputs/__init__.py": {"_add_pooler"},
    "retrieval/calibrate.py": {"vectors"},
    "retrieval/dense/collection.py": {"_refuse_repeated_id", "vectors"},
    "retrieval/dense/job_collections.py": {"__init__"},
    "retrieval/dense/vector_files.py": {"_write_ids", "blocks", "join_parts"},
    "retrieval/hard_negatives.py": {"in_order"},
    "retrieval/lexical/lucene_bm25.py": {"_read"},
    "retrieval/retrieve.py": {"query_vectors"},
}
# what is read under the boundary of the only callers, or has an answer of its own to every fault
OTHERS = {
    "artifacts/record_shape.py": {"seal"},  # what was written a line before
    "artifacts/run_files.py": {"_columns"},
    "benchmarks/_files.py": {"open_text"},
    "benchmarks/nq.py": {"answers"},
    "benchmarks/xda.py": {"text_of"},
    "corpora/dumps/sql_dump.py": {"_blocks"},
    "corpora/dumps/xml_dump.py": {"_parse"},
    "encoders/static_embedding.py": {"__init__"},  # an array
    "evaluation/scores.py": {"table_of"},
    "files/atomic.py": {"_sync", "atomic_file"},
    "files/digests.py": {"block_digest", "sha256"},
    "files/reading.py": {"open_bytes", "read_note", "readinto"},  # streams, under open_unpacked
    "papers/table.py": {"load_spec"},
    "sources/weights/checkpoint_checks.py": {"check_sizes"},
    "sources/weights/checkpoint_files.py": {"_load"},
    "sources/download/fetch.py": {"_finish"},
    "sources/download/places.py": {"read", "_goes_on"},
    "sources/download/unpack.py": {"_open", "_opened", "_write"},
    "sources/download/verify.py": {"check", "digests"},
    "tables/render/figure_data.py": {"_rows"},
}
# the package's own files, and what its driver, its cluster and its build notes of themselves
OURS = re.compile(
    "(catalogue|cluster|command|snakemake_support)/.*|tables/all_tables_pdf.py|stele_world/standins/(models|__init__).py"
)


def test_what_opens_a_file_does_so_under_the_boundary(root):
    outside = {}
    for path in sorted((root / "src").rglob("*.py")):
        name = path.relative_to(root / "src").as_posix().removeprefix("stele/")
        if not OURS.fullmatch(name) and (functions := set(_unbounded(ast.parse(path.read_text())))):
            outside[name] = functions
    assert outside == CHECKED | OTHERS


def _unbounded(node, function="", bounded=False):
    """The functions that open or parse a file outside of `with reading(...)` and its like."""
    if isinstance(node, ast.FunctionDef):
        function, bounded = node.name, False
    if isinstance(node, ast.With):
        contexts = [ast.unparse(item.context_expr).partition("(")[0].rpartition(".")[2] for item in node.items]
        bounded = bounded or not set(BOUNDARIES).isdisjoint(contexts)
    if isinstance(node, ast.Call) and not bounded and OPENS.fullmatch(ast.unparse(node.func)) and not _writes(node):
        yield function
    for child in ast.iter_child_nodes(node):
        yield from _unbounded(child, function, bounded)


def _writes(call):
    texts = [value.value for value in (*call.args, *(word.value for word in call.keywords if word.arg == "mode"))
             if isinstance(value, ast.Constant) and isinstance(value.value, str)]  # fmt: skip
    return any(map(WRITES.fullmatch, texts))
