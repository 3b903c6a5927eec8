"""A repository that asks for code of its own: gte-multilingual's, whose weights another one has without.

It holds what the hub shows of such a one before its weights, settings with `auto_map`; Stele refuses it and names the
other (`same_weights_as` in models.yaml).
"""

from __future__ import annotations

import json

from stele_world.writers.library import Library
from stele_world.writers.site import Site

URL = "https://huggingface.co/Alibaba-NLP/gte-multilingual-base/resolve/main/config.json"
SETTINGS = {
    "architectures": ["NewModel"],
    "auto_map": {"AutoConfig": "configuration.NewConfig", "AutoModel": "modeling.NewModel"},
    "model_type": "new",
}


def write(site: Site, library: Library) -> None:
    site.put(URL, f"{json.dumps(SETTINGS, indent=2)}\n".encode())
