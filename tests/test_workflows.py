"""The workflows of GitHub: the shell lines of the tests' shards, run with a list of arguments in place of pytest."""

import subprocess
from collections import Counter

import yaml

ELSEWHERE = {"cluster", "speed"}  # a private cluster, a machine that does nothing else


def test_each_folder_of_tests_is_in_one_shard_and_no_other_file_is(root):
    job = yaml.safe_load((root / ".github/workflows/tests.yml").read_text())["jobs"]["quick"]
    (line,) = [step["run"] for step in job["steps"] if "pytest" in step.get("run", "")]
    passed = Counter()
    for shard in job["strategy"]["matrix"]["tests"]:
        script = line.replace(".venv/bin/python -m pytest", "printf '%s\\n'").replace("${{ matrix.tests }}", shard)
        listed = subprocess.run(["bash", "-ec", script], cwd=root, capture_output=True, text=True, check=True).stdout
        passed.update(word.rstrip("/") for word in listed.splitlines() if word.startswith("tests/"))
    folders = {path.parent for path in (root / "tests").glob("*/**/test_*.py")}
    tops = {folder.relative_to(root).parts[1] for folder in folders} - ELSEWHERE
    files = {path.name for path in (root / "tests").glob("test_*.py")}
    assert passed == Counter(f"tests/{name}" for name in tops | files)
