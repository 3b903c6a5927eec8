"""Schema of languages.yaml: the codes of a language in datasets, and the grammar of its generated counterpart."""

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

    coverage: Share = Field(description="share of the generated entities that have an article in the language")
    order: Literal["SVO", "SOV", "VSO"] = Field(description="order of subject, verb and object")
    role_marking: Literal["preposition", "postposition", "suffix"] = Field(description="how a noun's role is marked")
    adjective: Literal["before", "after"] = Field(description="place of an adjective: before or after its noun")
    article: Literal["word", "prefix", "suffix", "none"] = Field(description="form of the article")
    question: Literal["initial", "in_situ", "final"] = Field(description="place of the question word")
    copula: bool = Field(description="whether sentences have a copula (the verb be)")
    subject_marker: bool = Field(False, description="whether the subject has a marker")
    question_particle: bool = Field(False, description="whether questions have a particle")
    syllable_space: bool = Field(False, description="the syllables of a word are written apart")
    cognates: dict[str, Share] = Field(
        {}, description="language family, or language -> share of the words that come from it"
    )
    changes: Sounds = Field(
        {}, description="sound of the common ancestor or of the lending language -> sound in this language"
    )
    endings: dict[WordClass, list[str]] = Field({}, description="word class -> its endings, in sounds")
    prefixes: dict[WordClass, list[str]] = Field({}, description="word class -> its prefixes, in sounds")
    written_endings: dict[WordClass, list[str]] = Field(
        {}, description="word class -> letters that follow a word in Chinese characters"
    )
    spelling: dict[str, str] = Field({}, description="sound -> its letters, where they differ from the script's table")
    syllables: Syllables
    han: Han = Han()


class Language(Strict):
    """A language, by the code that Stele uses."""

    FILE: ClassVar = "languages"

    name: str = Field(description="English name of the language")
    script: str = Field(description="name of the script")
    script_kind: Literal["alphabet", "abjad", "abugida", "featural", "syllabary", "logographic"]
    spaces: bool = Field(True, description="false: no spaces separate words")
    family: str = Field(description="language family; words are inherited from one ancestor within it")
    mrtydi: str | None = Field(None, description="name of the language in Mr. TyDi's files")
    tatoeba: str | None = Field(
        None, pattern="^[a-z]{3}$", description="ISO 639-3 code of the language in LASER's files"
    )
    mmarco: str | None = Field(None, description="name of the language in mMARCO's files")
    belebele: str | None = Field(
        None,
        pattern="^[a-z]{3}_[A-Z][a-z]{3}$",
        description="variant of the language in Belebele's files, e.g. arb_Arab",
    )
    ciral: str | None = Field(None, description="name of the language in CIRAL's files")
    wikipedia: str | None = Field(None, pattern="^[a-z-]+$", description="subdomain of its Wikipedia, with - for _")
    cc100: str | None = Field(
        None, pattern="^[A-Za-z_-]+$", description="code of the language in CC-100's files, {code}.txt.xz"
    )
    cc100_substitute: Substitute | None = Field(
        None, description="corpus to use where CC-100 does not have the language"
    )
    neuclir: str | None = Field(None, pattern="^[a-z]{3}$", description="name of the language in NeuCLIR's files")
    world: World | None = Field(None, description="grammar of the generated language; null: it cannot be generated")
