"""Folders of results that somebody handed over, one file of each damaged, before all that reads such folders."""

import io
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any

from stele.claims.judge import judge
from stele.claims.judging import trainings
from stele.claims.pack import pack
from stele.errors import SteleError
from stele.evaluate import export
from stele.tables import references, site
from stele.tables.render.pictures import curves, draw_curve
from stele.tables.values.lookup import Results
from tests.claims.made_results import write_results
from tests.claims.small_paper import cells, write_paper
from tests.readers.files import Reader, beside, in_folder

HUB = {"job": "sources checkpoint", "model": "me5_small", "repository": "a/b", "revision": "c", "labels": []}
DECIDED = {"config": ["dimension"], "folder": ["pooling"]}
METRICS = {"ndcg@10": {"languages": {"en-en": 0.5}, "average": 0.5, "n": {"en-en": 3}}}
DIRECT = json.dumps(
    {
        "job": "average",
        "benchmark": "belebele",
        "model": "me5_small",
        "setting": "direct",
        "labels": [],
        "seeds": {"pretraining": 0, "finetuning": 0},
        "metrics": METRICS,
        "inputs": {"retrieval": "d1"},
        "versions": {"torch": "2.13.0"},
        "ancestry": {
            "d1": {"job": "retrieve", "encoding": {"dimension": 64}, "encoding_decided_by": DECIDED, "inputs": {}},
            "d2": HUB,
        },
    }
).encode()
TRAININGS = json.dumps(
    {"d1": {"model": "msm", "seed": 0, "cpu_seconds": 5.5, "device": "cpu", "losses": {"msm": 1.9}}
     | {"chance": {"msm": 3.3}, "curve": {"step": [2, 4], "msm": [3.0, 1.9]}}}
).encode()  # fmt: skip
ANCESTRY = json.dumps({"d1": {**HUB, "inputs": {"data": "d2"}}, "d2": {"job": "pretrain", "model": "msm"}}).encode()
CONTEXT = json.dumps({"rows": {"mrtydi/mbert/zero_shot_marco": {"state": "not built", "reason": "so"}}}).encode()
LOOKS = b"first: {pretraining: [0, 1], finetuning: [0]}\n"
CLAIM = {"kind": "greater", "main": True, "left": cells("all/ours/mrr/*"), "right": cells("all/base/mrr/*")}
ROW = "mrtydi/msm/zero_shot_marco"


def _made() -> dict[str, bytes]:
    """A folder of results of two models by two seeds, with the specs of a small paper: path -> content."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_results(folder, {"mbert": 0.0, "msm": 0.05}, seeds=2, queries=3)
        paper = write_paper(folder / "specs", [CLAIM])
        (paper / "figure_03.yaml").unlink()
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


MADE = _made()
CLAIMS = sha256(MADE["specs/msm/claims.yaml"]).hexdigest()
STUDY = json.dumps({"scale": "study", "claims_sha256": {"msm": CLAIMS}}).encode()
MADE |= {"scale.txt": b"study\n"}


def exported(folder: Path) -> None:
    results = list(export.measured(folder, None))
    export.model_index(results)
    if results:
        with redirect_stdout(io.StringIO()):
            export.write_mteb(results, folder / "exported")


def refused(what: str) -> None:
    """A result that cannot be read, of which the command tells and goes on."""
    raise SteleError(what)


def referred(folder: Path) -> None:
    list(references.as_text(references.of_folder(folder, refused)))


def judged(folder: Path) -> None:
    judge(folder, folder / "specs", None)


def packed(folder: Path) -> None:
    shutil.rmtree(folder / "packed", ignore_errors=True)
    pack(folder, folder / "packed", folder / "specs")


def packed_into(folder: Path) -> None:
    """Packs into a folder that holds something already."""
    shutil.rmtree(folder / "packed", ignore_errors=True)
    (folder / "packed").mkdir()
    for name in ("scale.txt", "study.json", "ancestry.json"):
        if (folder / name).is_dir():
            (folder / "packed" / name).mkdir()
        elif (folder / name).exists():
            shutil.copy(folder / name, folder / "packed")
    pack(folder, folder / "packed", folder / "specs")


def pages(folder: Path) -> None:
    shutil.rmtree(folder / "pages", ignore_errors=True)
    site.write_site(folder, folder / "specs", folder / "pages")


def curves_of(folder: Path) -> None:
    for curve in curves(trainings.kept(folder).values()):
        assert curve.words and draw_curve(curve)


DIRECT_FILE, SEED, VALUES = "belebele/me5_small/direct.json", f"{ROW}/pt1-ft0.json", f"{ROW}/pt1-ft0/queries.parquet"
# reader -> the damaged file below the folder, its content, what reads the folder
READ: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "export of a result": (DIRECT_FILE, DIRECT, exported),
    "references of a result": (DIRECT_FILE, DIRECT, referred),
    "judging a result": (SEED, MADE[SEED], judged),
    "judging values per query": (VALUES, MADE[VALUES], judged),
    "judging by a context": ("tables/context.json", CONTEXT, judged),
    "judging by looks": ("looks.yaml", LOOKS, judged),
    "packing a result": (SEED, MADE[SEED], packed),
    "packing values per query": (VALUES, MADE[VALUES], packed),
    "packing into a study": ("study.json", STUDY, packed_into),
    "packing with an ancestry": ("ancestry.json", ANCESTRY, packed_into),
    "pages of a result": (DIRECT_FILE, DIRECT, pages),
    "pages of a seed": (SEED, MADE[SEED], pages),
    "trainings": ("pretraining.json", TRAININGS, curves_of),
    "ancestry": ("ancestry.json", ANCESTRY, lambda folder: Results(folder).ancestry),
    "study": ("study.json", STUDY, site.about),
    "pages by a context": ("tables/context.json", CONTEXT, pages),
}
HANDED: dict[str, Reader] = {name: in_folder(*about) for name, about in READ.items()}
BESIDE_HANDED = {name: beside(file, MADE) for name, (file, _, _) in READ.items()}
# a case draws tables, estimates or packs: a few cases say what there is to say
FEWER = {name for name in READ if name.startswith(("judging", "packing", "pages"))}
# where a reader takes its meaning from the folders above the file
PLACES = {name: str(Path(file).parent) for name, (file, _, _) in READ.items()}
