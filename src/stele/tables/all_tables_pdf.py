"""Typeset all_tables.tex as one PDF, by latexmk with XeLaTeX and BibTeX; equal tables give equal bytes.

On Debian: apt-get install texlive-xetex latexmk fonts-freefont-otf fonts-noto-core fonts-wqy-microhei. The last two
have the scripts of all languages of the papers, for rows that a user adds; fonts-noto-cjk has finer Chinese, Japanese
and Korean letters. Letters that no font has are printed as their codes.
"""

import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

from stele.command.arguments import Job, ends_in
from stele.errors import SteleError
from stele.files.atomic import CREATOR, atomic_file, check_marked

log = logging.getLogger(__name__)
TOOLS = ("latexmk", "xelatex", "bibtex")
LATEXMK = ("latexmk", "-norc", "-xelatex", "-interaction=nonstopmode", "-halt-on-error")


class AllTablesPdf(Job):
    tex: Path = Path("results/tables/all_tables.tex")
    """LaTeX file with all tables."""
    output: Annotated[Path, ends_in(".pdf")] | None = None
    """PDF to write; default: the name of --tex with .pdf."""


def run(args: AllTablesPdf) -> None:
    output = check_marked(args.output or args.tex.with_suffix(".pdf"))
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        packages = "texlive-xetex latexmk fonts-freefont-otf fonts-noto-core fonts-wqy-microhei"
        raise SteleError(f"the PDF needs {', '.join(missing)}; on Debian: apt-get install {packages}")
    if not args.tex.exists():
        raise SteleError(f"{args.tex}: no such file; render it first: stele tables all_tables")
    with tempfile.TemporaryDirectory() as scratch, atomic_file(output, "wb") as handle:
        handle.write(compile_tex(args.tex, Path(scratch)) + f"% {CREATOR}\n".encode())  # a comment behind its end


def compile_tex(tex: Path, scratch: Path) -> bytes:
    """Compiles a document that inputs files beside it, in the folder `scratch`. Raises SteleError if LaTeX fails."""
    shutil.copy(tex, scratch)
    (scratch / "beside").symlink_to(tex.parent.resolve())  # TeX expands braces, commas and $ in the path of a folder
    inputs = f"beside{os.pathsep}"  # and then where LaTeX looks anyway
    # a PDF is dated and numbered by the time, unless it is given, and by the paths of its files: those are all relative
    fixed = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1", "TEXINPUTS": inputs, "BIBINPUTS": inputs}
    done = subprocess.run(
        [*LATEXMK, tex.name],
        cwd=scratch,
        env={**os.environ, **fixed},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    pdf, written = scratch / f"{tex.stem}.pdf", scratch / f"{tex.stem}.log"
    if done.returncode or not pdf.exists():
        lines = written.read_text(errors="replace").splitlines() if written.exists() else done.stdout.splitlines()
        first = next((place for place, line in enumerate(lines) if line.startswith("!")), max(0, len(lines) - 5))
        raise SteleError(f"{tex}: LaTeX stopped:\n" + "\n".join(lines[first : first + 5]))
    for line in problems(written.read_text(errors="replace")):
        log.warning("%s", line)
    log.info("%s: %d kB", tex, pdf.stat().st_size // 1000)
    return pdf.read_bytes()


def problems(written: str) -> list[str]:
    """Warnings in a LaTeX log: boxes that stick out, letters that no font has, references without a target."""
    begins = ("Overfull", "Missing character", "LaTeX Warning")
    return [line for line in written.splitlines() if line.startswith(begins)]
