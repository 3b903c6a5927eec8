"""NLTK's word_tokenize with a Punkt model that is given, not looked for.

`nltk.word_tokenize` splits sentences with the English Punkt model of nltk_data, then cuts words with the Treebank
rules. The model is in no package: it is a dataset of the catalogue. Without it there is an error, never another
tokenizer, because R@2kt depends on every token. The four text files are read directly; nothing is unpickled.
NLTK's version counts too: 3.10.4 parts "bar—baz" at the dash, 3.5 does not; the lock files pin it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stele.benchmarks._files import open_text
from stele.benchmarks.types import Data
from stele.errors import SteleError
from stele.files.reading import reading

FILES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")


def load_word_tokenizer(data: Data, dataset: str) -> Callable[[str], list[str]]:
    """The tokenizer with the model in the dataset's folder (`english/` with its four files, or those files)."""
    folders = list(data.get(dataset, {}).values())
    if not folders:
        raise SteleError(
            f"XOR-Retrieve's tokens need NLTK's English Punkt model; pass --data {dataset}=punkt_tab, the folder of "
            f"nltk_data, or the record of a download (`snakemake downloads` fetches it); another tokenizer would give "
            f"other numbers"
        )
    folder = folders[0] if (folders[0] / FILES[0]).is_file() else folders[0] / "english"
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise SteleError(f"{folder}: no {missing[0]}; want the files of NLTK's punkt_tab model: {', '.join(FILES)}")
    return word_tokenizer(folder)


def word_tokenizer(folder: Path) -> Callable[[str], list[str]]:
    """`nltk.word_tokenize` with the Punkt model in `folder`."""
    from nltk.tabdata import PunktDecoder
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    decoder, parameters = PunktDecoder(), PunktParameters()
    readers = {
        "abbrev_types": ("abbrev_types.txt", decoder.txt2set),
        "collocations": ("collocations.tab", lambda handle: set(decoder.tab2tups(handle))),
        "sent_starters": ("sent_starters.txt", decoder.txt2set),
        "ortho_context": ("ortho_context.tab", decoder.tab2intdict),
    }
    for attribute, (name, read) in readers.items():
        with reading(folder / name, "file of a Punkt model"), open_text(folder / name) as handle:
            setattr(parameters, attribute, read(handle))
    sentences, words = PunktSentenceTokenizer(parameters), NLTKWordTokenizer()

    def tokenize(text: str) -> list[str]:
        return [token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]

    return tokenize
