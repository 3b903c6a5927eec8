"""Trained artefacts that upstream publishes: word vectors, a sentence splitter, a model's settings."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.draws import stream
from stele_world.site import Site, lines, zip_of
from stele_world.writers.library import Library

FASTTEXT_DATASET = "fasttext_aligned"
FASTTEXT = "https://dl.fbaipublicfiles.com/fasttext/vectors-aligned/wiki.{language}.align.vec"
WIDTH = 64  # the real ones have 300
LARGEST = 1000  # of a drawn number
# weight of a word's own vector beside its concept's: translations have a cosine of about .74
FASTTEXT_OWN = 0.6
FASTTEXT_LACKING = 0.03  # of the words


def write_fasttext(site: Site, library: Library) -> None:
    """Writes fastText's word vectors in several languages, aligned in one space: translations are close.

    Format: facebookresearch/fastText, alignment/utils.py, save_vectors: numbers of words and of dimensions, then a line
    per word with four decimals, every vector of length 1. As in the real files words are in lower case, some are
    missing, and a word has one vector, whatever its meanings. Concepts are independent draws, so that words of
    different meaning sometimes have a cosine above .3, as in the real vectors.
    """
    for language in sorted({*languages_of(dataset(FASTTEXT_DATASET))} & {*library.world.languages}):
        vectors = _vectors(library, language, FASTTEXT_OWN, FASTTEXT_LACKING, (language,), ())
        site.put(FASTTEXT.format(language=language), _vec_file(vectors))
        site.count(FASTTEXT_DATASET, language, words=len(vectors))


def _vectors(
    library: Library, language: str, word_share: float, lacking: float, key: Sequence[str], method: Sequence[str]
) -> dict[str, np.ndarray]:
    """Makes the vectors of a language's words, without a share `lacking` of them.

    A word's vector is its concept's plus `word_share` times one drawn by word and `key`, of length 1: float64 [WIDTH].
    """
    seed, vectors = library.world.seed, {}
    for word, concept in words(library, language).items():
        if not stream(seed, *method, "lacking", language, word).chance(lacking):
            mixed = _drawn(seed, concept) + word_share * _drawn(seed, *key, word)
            vectors[word] = mixed / np.linalg.norm(mixed)
    return vectors


def _vec_file(vectors: Mapping[str, np.ndarray]) -> bytes:
    rows = [f"{len(vectors)} {WIDTH}"]
    for word, vector in vectors.items():
        rows.append(" ".join([word, *(f"{number:.4f}" for number in vector)]))
    return lines(rows)


def words(library: Library, language: str) -> dict[str, str]:
    """Maps each word in a language's texts, except names, to the first concept that it means."""
    lexicon = library.world.lexicons[language]
    words: dict[str, str] = {}
    for concept, forms in lexicon.forms.items():
        loan = [lexicon.loans[concept]] if concept in lexicon.loans else []
        for form in (*forms, *loan):
            for word in form.lower().split():
                words.setdefault(word, concept)
    return words


def _drawn(seed: int, *key: str) -> np.ndarray:
    draws = stream(seed, "word vector", *key)
    return np.array([draws.between(-LARGEST, LARGEST) for _ in range(WIDTH)], np.float64)


SHUFFLED = "smart_shuffling"
SHUFFLED_LACKING = 0.2  # of the words
SHUFFLED_OWN = 0.8  # the same weight: translations are farther apart than in fastText's


def write_smart_shuffling(site: Site, library: Library) -> None:
    """Writes bilingual word vectors as from smart shuffling: one list of both languages' words for each pair.

    The real vectors are not published; the format is that of fastText's text files, which tools of this kind write. The
    method learns from sentences that mix the words of two languages, so a word that both languages spell alike has one
    vector, here that of the first language. Fewer words have vectors than in fastText's files (Yu et al., section
    5.1.4: "smaller vocabulary coverage").
    """
    for pair in languages_of(dataset(SHUFFLED)):
        languages = pair.split("-")
        if {*languages} <= {*library.world.languages}:
            vectors: dict[str, np.ndarray] = {}
            for language in languages:
                added = _vectors(library, language, SHUFFLED_OWN, SHUFFLED_LACKING, (SHUFFLED, pair), (SHUFFLED,))
                vectors |= {word: vector for word, vector in added.items() if word not in vectors}
            site.put_licensed(SHUFFLED, f"{pair}.vec", _vec_file(vectors))


PUNKT = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"
PUNKT_CHARACTERS = 300_000  # of text to learn from


def _learn_punkt(text: str) -> dict[str, bytes]:
    from nltk.tokenize.punkt import PunktTrainer

    parameters = PunktTrainer(text).get_params()
    return {
        "abbrev_types.txt": "\n".join(sorted(parameters.abbrev_types)).encode(),
        "collocations.tab": "\n".join("\t".join(pair) for pair in sorted(parameters.collocations)).encode(),
        "ortho_context.tab": "\n".join(f"{word}\t{n}" for word, n in sorted(parameters.ortho_context.items())).encode(),
        "sent_starters.txt": "\n".join(sorted(parameters.sent_starters)).encode(),
    }


def write_punkt(site: Site, library: Library) -> None:
    """Writes the English Punkt model for XOR-Retrieve's scorer, learnt from the generated English.

    Format: nltk_data, packages/tokenizers/punkt_tab.zip: four text files a language, as nltk.tokenize.punkt's
    save_punkt_params writes them but with sets in sorted order, so that the same model is the same bytes.
    """
    articles = (p.text for p in library.paragraphs("en").passages)
    web = (" ".join(paragraph) for document in library.world.web_documents("en") for paragraph in document)
    text, size = [], 0
    for paragraph in chain(articles, web):
        if size >= PUNKT_CHARACTERS:
            break
        text.append(paragraph)
        size += len(paragraph)
    model = _learn_punkt("\n".join(text))
    members = {"punkt_tab/README": b"Punkt models, learnt without supervision (Kiss and Strunk 2006).\n"}
    site.put(PUNKT, zip_of(members | {f"punkt_tab/english/{name}": data for name, data in model.items()}))
    names = {
        "abbreviations": "abbrev_types.txt",
        "collocations": "collocations.tab",
        "sentence_starters": "sent_starters.txt",
    }
    site.count("nltk_punkt", **{what: len(model[name].splitlines()) for what, name in names.items()})


OWN_CODE = "https://huggingface.co/Alibaba-NLP/gte-multilingual-base/resolve/main/config.json"
OWN_CODE_SETTINGS = {
    "architectures": ["NewModel"],
    "auto_map": {"AutoConfig": "configuration.NewConfig", "AutoModel": "modeling.NewModel"},
    "model_type": "new",
}


def write_own_code(site: Site, library: Library) -> None:
    """Writes a repository that requires its own code: gte-multilingual's. Another one has its weights without code.

    It contains the settings with `auto_map` that the hub shows before any weights; Stele refuses the repository and
    names the other (`same_weights_as` in models.yaml).
    """
    site.put(OWN_CODE, f"{json.dumps(OWN_CODE_SETTINGS, indent=2)}\n".encode())
