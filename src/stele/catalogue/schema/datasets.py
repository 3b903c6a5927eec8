"""Schema of datasets.yaml: each dataset with its files, their addresses, and expected counts.

A `Part` is the portion of a `Dataset` that one job fetches, with all templates filled in (catalogue/datasets.resolve).
"""

from __future__ import annotations

import codecs
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from stele.files.strict import Strict
from stele.recipes.search import TopicField

Url = Annotated[str, Field(pattern=r"^https?://[^/]+/.+", description="{name}: a value of `fields` or of a language")]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def _encoding(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise ValueError(f"no encoding {name!r}; want one that Python knows, e.g. iso-8859-1") from None


Encoding = Annotated[str, AfterValidator(_encoding)]
Md5 = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Number = Annotated[int, Field(ge=0)]
LanguageField = Literal[  # of languages.yaml
    "mrtydi", "tatoeba", "mmarco", "belebele", "ciral", "wikipedia", "cc100", "neuclir"
]  # fmt: skip
Each = Literal["language", "mrtydi", "tatoeba", "belebele", "wikipedia", "cc100"]
Wall = Literal["none", "licence", "drive", "private", "script"]
Unit = Literal["documents", "pages"]
OWN = "yours"  # the version of a set of the user's own
Way = Literal[  # to count (stele/sources/download/counts.py)
    "lines",
    "filled_lines",
    "records",
    "rows",
    "squad_questions",
    "squad_sentences",
    "mentions",
    "mentions_in_text",
    "parallel_lines",
    "retrieval_rows",
    "retrieval_judgments",
]


class Checksums(Strict):
    """The list of checksums that upstream publishes beside a file."""

    algorithm: Literal["sha256", "sha1", "md5"]
    url: Url
    alternatives: list[Url] = Field([])


class Unpack(Strict):
    """Options for unpacking a zip or tar archive."""

    strip: str = Field("", description="a leading folder that is left away")
    keep: list[str] = Field([], description="patterns of the members that are kept; none: all")
    members: list[str] = Field([], description="that must be there")
    max_bytes: int | None = Field(None, ge=1, description="when unpacked")


class File(Strict):
    """A file of a part. A value that differs by language is a mapping from the language, or its `each` field."""

    path: str = Field(description="inside the dataset's folder")
    url: Url | None = Field(None, description="None: only a user's folder has it")
    alternatives: list[Url] = Field([], description="other addresses of the same bytes")
    like: list[str] = Field([], description="other names of it in a user's folder; it gets the name of `path`")
    variants: list[str] = Field([], description="patterns of a user's files that serve as well, and keep their names")
    sha256: Sha256 | dict[str, Sha256] | None = None
    md5: Md5 | dict[str, Md5 | list[Md5]] | None = Field(None, description="a list: of a file's shards")
    bytes: Number | dict[str, Number] | None = None
    shards: dict[str, Annotated[int, Field(ge=1)]] | None = Field(
        None, description="language -> how many such files there are, numbered {shard} from 0"
    )
    checksums: Checksums | None = None
    optional: bool = Field(False, description="absent upstream is fine")
    unpack: Unpack | None = None
    each: Each | None = Field(None, description="the file exists once a language; the field that names it")


class Count(Strict):
    """A count of something in a dataset's files, by which wrong or truncated files are noticed."""

    count: Way
    file: str | None = None
    files: list[str] | None = Field(None, min_length=1, description="counted together, in place of `file`")
    each: Each | None = Field(None, description="once a language; the field that names the file")
    expect: Number | dict[str, Number] | None = Field(None, description="what must come out")

    @model_validator(mode="after")
    def _of_something(self) -> Count:
        if (self.file is None) == (self.files is None):
            raise ValueError("want either `file` or `files`, not both or neither")
        return self


class Collection(Strict):
    """Format of a test collection's documents and topics (stele/benchmarks/collection.py)."""

    documents: list[str] = Field([], description="names of the files that hold them; none, or none there: all others")
    one_a_file: bool = Field(False, description="each document is a file of SGML; they are kept in one")
    tags: list[str] = Field([], description="SGML tags that hold text; none: Anserini's")
    encoding: Encoding | None = Field(None, description="of what is not UTF-8")
    field: TopicField = Field("title", description="of a topic, that is the query")


class Dataset(Strict):
    """A dataset."""

    FILE: ClassVar = "datasets"

    title: str
    version: str = Field(description="which release is meant")
    parts: Literal["languages", "all"] = Field(description="languages: one folder a language, fetched apart")
    languages: list[str] | None = Field(None, description="the languages it has")
    field: LanguageField | None = Field(None, description="or: the languages that have this field in languages.yaml")
    any_language: bool = Field(False, description="or: the languages that the user's folder has")
    codes: list[str] | None = Field(None, description="and, of those, whose `field` is among these")
    one_pool: bool = Field(False, description="on real data always all languages, which share one pool of candidates")
    tool: bool = Field(False, description="says nothing about the world, so a real one goes with generated data too")
    release: str | None = Field(None, description="the dataset published with it: a user's folder of that serves both")
    fields: dict[str, str] = Field({}, description="values for {name} in paths and addresses")
    files: list[File]
    exports: list[str] = Field(
        [],
        description="patterns of the Parquet files as which `datasets` exports a part; in a user's folder, those of "
        "the first pattern that any match serve in place of `files`",
    )
    counts: dict[str, Count] = Field({}, description="what -> how it is counted")
    collection: Collection | None = Field(None, description="of documents, topics or both: how they are written")
    cut: Unit | None = Field(None, description="a scale may take the first N only")
    licence: str
    wall: Wall = Field(description="what keeps it from download")
    how: str | None = Field(None, description="how to get it when there is a wall")
    note: str | None = Field(None, description="what one should know")

    @model_validator(mode="after")
    def _can_be_had(self) -> Dataset:
        if self.wall != "none" and self.how is None:
            raise ValueError(f"wall {self.wall}: explain in `how` how to get the dataset")
        if self.languages is not None and self.field is not None:
            raise ValueError("found both `languages` and `field`; want one of the two")
        if self.codes is not None and self.field is None:
            raise ValueError("`codes` need a `field`, and there is none")
        if self.exports and (uncounted := [what for what, one in self.counts.items() if one.count != "records"]):
            raise ValueError(f"`exports` are counted by records, and {uncounted[0]} is not")
        if self.parts == "languages" and self.languages is None and self.field is None and not self.any_language:
            raise ValueError("parts: languages: list the languages in `languages`, `field` or `any_language`")
        return self


class PartFile(Strict):
    """A file of a part, which is fetched or found in a user's folder."""

    path: str
    url: str | None = None
    alternatives: list[str] = Field([])
    like: list[str] = Field([])
    variants: list[str] = Field([])
    sha256: str | None = None
    md5: str | None = None
    bytes: int | None = None
    checksums: Checksums | None = None
    optional: bool = False
    unpack: Unpack | None = None
    own_name: bool = Field(True, description="its name alone tells it from the files of other parts")

    @property
    def addresses(self) -> list[str]:
        """All addresses of the same bytes, upstream's first."""
        return [*([self.url] if self.url else []), *self.alternatives]

    @property
    def expected(self) -> dict[str, Any]:
        """Known size and digests of the file."""
        known = {"bytes": self.bytes, "sha256": self.sha256, "md5": self.md5}
        return {key: value for key, value in known.items() if value is not None}


class PartCount(Strict):
    """A count that is made in a part, and its expected value."""

    count: Way
    files: list[str] = Field([])
    expect: Any = Field(None, description="what must come out")
    of: str | None = Field(None, description="the language's key in the counts; None: the number is of the whole part")


class Part(Strict):
    """The part of a dataset that one job fetches."""

    dataset: str
    part: str
    languages: list[str]
    title: str
    version: str
    licence: str
    wall: Wall
    how: str | None = None
    note: str | None = None
    release: str | None = None
    cut: Unit | None = None
    collection: Collection | None = None
    files: list[PartFile]
    exports: list[str] = Field([])
    counts: dict[str, list[PartCount]]
