"""Schema of datasets.yaml: each dataset with its files, their addresses, and expected counts.

A `Part` is the portion of a `Dataset` that one job fetches, with all templates filled in (catalogue/datasets.resolve).
"""

import codecs
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from stele.files.strict import Strict
from stele.recipes.search import TopicField

Url = Annotated[
    str,
    Field(
        pattern=r"^https?://[^/]+/.+",
        description="address; {name} stands for a value of `fields` or of the language in languages.yaml",
    ),
]
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
OWN = "yours"  # version of a user's own dataset
Way = Literal[  # how to count (stele/sources/download/counts.py)
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

    strip: str = Field("", description="leading folder that is removed from the members' paths")
    keep: list[str] = Field([], description="patterns of the members to keep; empty: all members")
    members: list[str] = Field([], description="members that must exist")
    max_bytes: int | None = Field(None, ge=1, description="most bytes of the unpacked archive")


class File(Strict):
    """A file of a part. A value that differs by language is a mapping from the language, or its `each` field."""

    path: str = Field(description="path of the file inside the dataset's folder")
    url: Url | None = Field(None, description="upstream address; null: the file can only come from a user's folder")
    alternatives: list[Url] = Field([], description="other addresses of the same bytes")
    like: list[str] = Field([], description="other names of the file in a user's folder; it is stored under `path`")
    variants: list[str] = Field(
        [], description="patterns of files in a user's folder that can be used instead; they keep their names"
    )
    sha256: Sha256 | dict[str, Sha256] | None = None
    md5: Md5 | dict[str, Md5 | list[Md5]] | None = Field(
        None, description="MD5 digest; a list has the digests of a file's shards"
    )
    bytes: Number | dict[str, Number] | None = None
    shards: dict[str, Annotated[int, Field(ge=1)]] | None = Field(
        None, description="language -> number of such files, whose paths and addresses contain {shard}, counted from 0"
    )
    checksums: Checksums | None = Field(None, description="list of checksums that upstream publishes")
    optional: bool = Field(False, description="true: upstream may lack the file")
    unpack: Unpack | None = Field(None, description="how the archive is unpacked; null: the file is no archive")
    each: Each | None = Field(
        None,
        description="the file exists once per language, identified by its code (language) or by this field of "
        "languages.yaml",
    )


class Count(Strict):
    """A count of something in a dataset's files, by which wrong or truncated files are noticed."""

    count: Way = Field(description="method of counting")
    file: str | None = Field(None, description="path of the file to count in")
    files: list[str] | None = Field(
        None, min_length=1, description="paths of files that are counted together, instead of `file`"
    )
    each: Each | None = Field(
        None,
        description="the count is made once per language, identified by its code (language) or by this field of "
        "languages.yaml",
    )
    expect: Number | dict[str, Number] | None = Field(
        None, description="expected number, or language -> expected number"
    )

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if (self.file is None) == (self.files is None):
            raise ValueError("want either `file` or `files`, not both or neither")
        return self


class Collection(Strict):
    """Format of a test collection's documents and topics (stele/benchmarks/collection.py)."""

    documents: list[str] = Field(
        [],
        description="names of the files with documents; empty, or if none of them exists: all files that are not "
        "named otherwise",
    )
    one_a_file: bool = Field(False, description="each document is an SGML file of its own; all are stored in one file")
    tags: list[str] = Field([], description="SGML tags that contain text; empty: Anserini's")
    encoding: Encoding | None = Field(None, description="character encoding of files that are not UTF-8")
    field: TopicField = Field("title", description="field of a topic that is the query by default")


class Dataset(Strict):
    """A dataset of the catalogue: its release, languages, licence, files and counts."""

    FILE: ClassVar = "datasets"

    title: str
    version: str = Field(description="release that is meant")
    parts: Literal["languages", "all"] = Field(
        description="languages: one folder per language, fetched separately; all: one folder"
    )
    languages: list[str] | None = Field(None, description="languages of the dataset")
    field: LanguageField | None = Field(
        None, description="instead of `languages`: the languages that have this field in languages.yaml"
    )
    any_language: bool = Field(False, description="instead of `languages`: the languages that the user's folder has")
    codes: list[str] | None = Field(None, description="with `field`: only the languages whose field is one of these")
    one_pool: bool = Field(False, description="real data always have all languages, which share one pool of candidates")
    tool: bool = Field(
        False,
        description="independent of the texts (e.g. word vectors), so that the real one can be used with generated "
        "data, too",
    )
    release: str | None = Field(
        None, description="dataset that is published together with this one: a user's folder of it is used for both"
    )
    fields: dict[str, str] = Field({}, description="name -> value of {name} in paths and addresses")
    files: list[File]
    exports: list[str] = Field(
        [],
        description="patterns of the Parquet files to which the library `datasets` exports a part; in a user's "
        "folder, the files of the first pattern with matches replace `files`",
    )
    counts: dict[str, Count] = Field({}, description="what is counted -> how it is counted")
    collection: Collection | None = Field(None, description="format of a test collection's documents or topics")
    cut: Unit | None = Field(
        None, description="unit of which a scale may use only the first N; null: the dataset is used whole"
    )
    licence: str
    wall: Wall = Field(
        description="what prevents a download: a licence, a web page without direct addresses (drive), private "
        "data, or a script of the authors that makes the data (script)"
    )
    how: str | None = Field(None, description="how to get the dataset if it cannot be downloaded")
    note: str | None = Field(None, description="remark for users")

    @model_validator(mode="after")
    def _can_be_had(self) -> Self:
        if self.wall != "none" and self.how is None:
            raise ValueError(f"wall {self.wall}: explain in `how` how to get the dataset")
        if self.languages is not None and self.field is not None:
            raise ValueError("found both `languages` and `field`; want one of the two")
        if self.codes is not None and self.field is None:
            raise ValueError("`codes` need a `field`, and there is none")
        if self.exports and (uncounted := [what for what, entry in self.counts.items() if entry.count != "records"]):
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
    own_name: bool = Field(True, description="its name alone distinguishes the file from the files of other parts")

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
    expect: Any = Field(None, description="expected value")
    of: str | None = Field(None, description="key of the language in the counts; null: the count is of the whole part")


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
