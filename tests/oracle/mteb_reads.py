"""What MTEB reads of result files: their languages and main scores by subset, and whether its task knows them, as JSON.

python mteb_reads.py FILE...
"""

import json
import sys
from pathlib import Path

import mteb
from mteb.results import TaskResult

found = {}
for path in map(Path, sys.argv[1:]):
    result = TaskResult.from_disk(path)
    (scores,) = result.scores.values()
    task = mteb.get_task(result.task_name)
    languages = {one["hf_subset"]: one["languages"] for one in scores}
    found[result.task_name] = {
        "languages": languages,
        "known": all(task.metadata.eval_langs[subset] == names for subset, names in languages.items()),
        "instruction": task.metadata.prompt,
        "main_score": {one["hf_subset"]: one["main_score"] for one in scores},
    }
print(json.dumps(found))
