"""Stand-ins for conda and apptainer, which no test machine has: environments of links to the packages installed here.

Such an environment holds exactly the packages that it names and what those need, so that a rule whose command imports
another one fails as it would in a real one.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

CONDA = """#!{python}
import json, os, pathlib, subprocess, sys, urllib.parse
sys.path.insert(0, {root!r})
import yaml
from tests.workflow.borrowed import environment
base, given = {base!r}, sys.argv[1:]
if given == ["info", "--json"]:
    print(json.dumps({{"conda_prefix": base, "platform": "linux-64"}}))
elif given == ["--version"]:
    print("conda 25.1.1")
elif given[0] == "clean":
    pass
elif given[0] == "config":
    print(json.dumps({{"get": {{"channel_priority": "strict"}}}}))
elif given[:2] == ["env", "create"]:
    file, prefix = (given[given.index(name) + 1] for name in ("--file", "--prefix"))
    listed = yaml.safe_load(pathlib.Path(file).read_text())["dependencies"]
    assert listed[0] == "python=3.11", listed
    files = [urllib.parse.urlsplit(place).path for place in os.environ["PIP_CONSTRAINT"].split()]
    locks = " ".join(pathlib.Path(urllib.parse.unquote(path)).read_text() for path in files)
    environment(pathlib.Path(prefix), listed[-1]["pip"], set(locks.split()))
else:
    sys.exit(f"conda: not here: {{given}}")
"""

ACTIVATE = 'export PATH="$1/bin:$PATH" CONDA_PREFIX="$1"; echo "$1" >> {log}\n'

# a container sees the host's environment but for these three, and the image's programs
APPTAINER = """#!{python}
import json, os, sys
given = sys.argv[1:]
if given == ["--version"]:
    print("apptainer version 1.4.5")
    sys.exit()
assert given[0] == "exec", given
image = next(index for index, text in enumerate(given) if text.endswith(".sif"))
seen = {{"binds": os.environ.get("APPTAINER_BINDPATH"), "kind": os.environ.get("KIND")}}
with open({log!r}, "a") as log:
    print(json.dumps({{"given": given, **seen}}), file=log)
prefix = open(given[image]).read().strip()
home = given[given.index("--home") + 1]
inside = {{key: value for key, value in os.environ.items() if key not in ("PATH", "HOME", "LD_LIBRARY_PATH")}}
inside |= {{"PATH": prefix + "/bin:/usr/bin:/bin", "HOME": home, "APPTAINER_CONTAINER": given[image]}}
os.execvpe(given[image + 1], given[image + 1 :], inside)
"""


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _needed(packages: list[str]) -> dict[str, importlib.metadata.Distribution]:
    """The packages and all that they need, as they are installed here."""
    collected, todo = {}, [(_name(package), frozenset()) for package in packages]
    while todo:
        name, extras = todo.pop()
        distribution = importlib.metadata.distribution(name)
        collected[name] = distribution
        for requirement in map(Requirement, distribution.requires or ()):
            if requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            ):
                wanted = _name(requirement.name)
                if wanted not in collected or requirement.extras:
                    todo.append((wanted, frozenset(requirement.extras)))
    return collected


def environment(prefix: Path, listed: list[str], locked: set[str]) -> None:
    """An environment of the packages `name==version`, and of what they need; all must be locked."""
    packages = dict(item.split("==") for item in listed)
    actual = _needed(list(packages))
    for name, distribution in actual.items():
        version = distribution.version.partition("+")[0]
        assert f"{name}=={version}" in locked, f"{name} {version} is not the one that is locked"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    (site,) = prefix.glob("lib/python*/site-packages")
    for distribution in actual.values():
        for top in {path.parts[0] for path in distribution.files if path.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def conda(folder: Path, root: Path) -> Path:
    """A conda under `folder`: the folder of its program, for PATH. `folder`/log has a line for each activation."""
    text = CONDA.format(python=sys.executable, root=str(root), base=str(folder))
    _program(folder / "condabin/conda", text)
    _program(folder / "bin/activate", ACTIVATE.format(log=folder / "log"))
    return folder / "condabin"


def apptainer(folder: Path) -> Path:
    """An apptainer under `folder`: the folder of its program. An image is a file that names an environment."""
    _program(folder / "bin/apptainer", APPTAINER.format(python=sys.executable, log=str(folder / "log")))
    return folder / "bin"


def calls(folder: Path) -> list[dict]:
    """What the apptainer of `folder` was asked for."""
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]
