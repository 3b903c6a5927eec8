"""The English Punkt model that XOR-Retrieve's scorer splits sentences with, learnt from the generated English.

Format: nltk_data, packages/tokenizers/punkt_tab.zip: four text files a language, as nltk.tokenize.punkt's
save_punkt_params writes them but with sets in sorted order, so that the same model is the same bytes.
"""

from __future__ import annotations

from itertools import chain

from stele_world.writers.library import Library
from stele_world.writers.site import Site, zip_of

URL = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"
CHARACTERS = 300_000  # of text to learn from


def learn(text: str) -> dict[str, bytes]:
    """The four files of a Punkt model learnt from `text`."""
    from nltk.tokenize.punkt import PunktTrainer

    parameters = PunktTrainer(text).get_params()
    return {
        "abbrev_types.txt": "\n".join(sorted(parameters.abbrev_types)).encode(),
        "collocations.tab": "\n".join("\t".join(pair) for pair in sorted(parameters.collocations)).encode(),
        "ortho_context.tab": "\n".join(f"{word}\t{n}" for word, n in sorted(parameters.ortho_context.items())).encode(),
        "sent_starters.txt": "\n".join(sorted(parameters.sent_starters)).encode(),
    }


def write(site: Site, library: Library) -> None:
    articles = (p.text for p in library.paragraphs("en").passages)
    web = (" ".join(paragraph) for document in library.world.web_documents("en") for paragraph in document)
    text, size = [], 0
    for paragraph in chain(articles, web):
        if size >= CHARACTERS:
            break
        text.append(paragraph)
        size += len(paragraph)
    model = learn("\n".join(text))
    members = {"punkt_tab/README": b"Punkt models, learnt without supervision (Kiss and Strunk 2006).\n"}
    site.put(URL, zip_of(members | {f"punkt_tab/english/{name}": data for name, data in model.items()}))
    names = {
        "abbreviations": "abbrev_types.txt",
        "collocations": "collocations.tab",
        "sentence_starters": "sent_starters.txt",
    }
    site.count("nltk_punkt", **{what: len(model[name].splitlines()) for what, name in names.items()})
