"""Schema of languages.yaml: the codes of a language in datasets, and the grammar of its generated counterpart."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stele.files.strict import Strict

Share = Annotated[float, Field(ge=0, le=1)]
WordClass = Literal["noun", "verb", "adjective"]
Sounds = dict[str, str]


class Substitute(Strict):
    """Substitute corpus for a language code of MSM's released recipe that CC-100 does not have."""

    corpus: Literal["wikipedia"]
    reason: str


class Syllables(Strict):
    """Parts of syllables, in the notation of scripts.yaml (stele_world), separated by blanks; "-" is an empty part."""

    onsets: str
    nuclei: str
    codas: str


class Han(Strict):
    """Shares of the words of a class that are written with Chinese characters."""

    noun: Share = 0.0
    verb: Share = 0.0
    adjective: Share = 0.0
    function: Share = 0.0


class World(Strict):
    """Grammar, vocabulary and script of a generated language."""

    coverage: Share = Field(description="share of the generated entities that have an article")
    order: Literal["SVO", "SOV", "VSO"]
    role_marking: Literal["preposition", "postposition", "suffix"]
    adjective: Literal["before", "after"] = Field(description="of its noun")
    article: Literal["word", "prefix", "suffix", "none"]
    question: Literal["initial", "in_situ", "final"] = Field(description="where the question word stands")
    copula: bool
    subject_marker: bool = False
    question_particle: bool = False
    syllable_space: bool = Field(False, description="syllables are written apart")
    cognates: dict[str, Share] = Field({}, description="family or language -> share of the words that come from it")
    changes: Sounds = Field({}, description="sounds that differ from the common ancestor's or the lender's")
    endings: dict[WordClass, list[str]] = Field({}, description="by word class, in sounds")
    prefixes: dict[WordClass, list[str]] = Field({}, description="by word class, in sounds")
    written_endings: dict[WordClass, list[str]] = Field({}, description="behind Chinese characters, in letters")
    spelling: dict[str, str] = Field({}, description="sounds whose letters differ from the script's table")
    syllables: Syllables
    han: Han = Han()


class Language(Strict):
    """A language, by the code that Stele uses."""

    FILE: ClassVar = "languages"

    name: str
    script: str
    script_kind: Literal["alphabet", "abjad", "abugida", "featural", "syllabary", "logographic"]
    spaces: bool = Field(True, description="false: words are not separated")
    family: str = Field(description="within which words are inherited from one ancestor")
    mrtydi: str | None = Field(None, description="its name in Mr. TyDi's files")
    tatoeba: str | None = Field(None, pattern="^[a-z]{3}$", description="its ISO 639-3 code in LASER's files")
    mmarco: str | None = Field(None, description="its name in mMARCO's files")
    belebele: str | None = Field(
        None, pattern="^[a-z]{3}_[A-Z][a-z]{3}$", description="its variant in Belebele's files"
    )
    ciral: str | None = Field(None, description="its name in CIRAL's files")
    wikipedia: str | None = Field(None, pattern="^[a-z-]+$", description="the subdomain, with - for _")
    cc100: str | None = Field(None, pattern="^[A-Za-z_-]+$", description="the file {code}.txt.xz of CC-100")
    cc100_substitute: Substitute | None = None
    neuclir: str | None = Field(None, pattern="^[a-z]{3}$", description="its name in NeuCLIR's files")
    world: World | None = Field(None, description="only languages that have it can be generated")
