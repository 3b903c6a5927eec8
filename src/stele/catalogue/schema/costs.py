"""Schemas of costs.yaml, rules.yaml, and sizes of devices, checkpoints and dumps, which give a job's cost."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from stele.catalogue import entries
from stele.files.strict import Strict

Whole = Annotated[int, Field(ge=0)]
Bytes = Annotated[int, Field(gt=0, strict=True)]
Positive = Annotated[float, Field(gt=0)]
Counted = Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=r"^\w+\.\w+$")]  # a number, or dataset.count
Sum = Annotated[list[Counted], Field(min_length=1)]  # of its items


class Share(Strict):
    """Share of a GPU's peak performance that a kind of work reaches."""

    share: float = Field(gt=0, le=1, description="share of the peak that is reached")
    peak: Literal["half", "single"] = Field(description="column of devices.yaml with the peak")


class Shares(Strict):
    """Shares of a GPU's peak performance, by kind of work."""

    training: Share
    encoding: Share
    encoding_half: Share
    search: Share


class Fill(Strict):
    """Shares of a recipe's limits that real examples fill."""

    tokens: float = Field(gt=0, le=1)
    sentences: float = Field(gt=0, le=1)


class TrainingMemory(Strict):
    """Memory of a training process, in bytes per unit."""

    weight: Positive = Field(description="bytes per weight, with its gradient and two moments")
    state: Positive = Field(description="bytes per token, layer and unit of width")
    attention: Positive = Field(description="bytes per pair of tokens, layer and head")
    score: Positive = Field(description="bytes per hidden token and word of the vocabulary")


class Text(Strict):
    """Lengths of a kind of text, in tokens."""

    mean: Positive = Field(description="mean length")
    longest: Positive = Field(description="length of the longest text of a training group")

    def within(self, limit: int) -> Self:
        return self.model_copy(update={"mean": min(self.mean, limit), "longest": min(self.longest, limit)})

    def padded(self, number: float, chunk: int | None) -> float:
        """Mean padded length of `number` texts, padded together or sorted by length in chunks."""
        chunks = max(1, -(-number // chunk)) if chunk else 1
        return self.mean + (self.longest - self.mean) / chunks


class SearchedTexts(Strict):
    """The kinds of the texts that are encoded as queries and as passages."""

    query: str = Field(description="kind of text, a key of `texts`: the queries")
    passage: str = Field(description="kind of text, a key of `texts`: the passages")


class BenchmarkSize(SearchedTexts):
    """Numbers of queries and passages that a benchmark encodes and searches."""

    queries: Sum
    passages: Sum
    windows: Positive = Field(1.0, description="encoded windows per passage, if passages are documents")
    token_windows: Positive = Field(1.0, description="encoded windows per passage in a setting with windows of tokens")
    parallel: bool = Field(False, description="every query exists in all languages of the benchmark's pairs")
    both_ways: bool = Field(False, description="queries are passages of the other direction, and are encoded once")
    reads: float = Field(0.0, ge=0, description="GB of passages that scoring searches for answers")


class JudgedSize(Strict):
    """Numbers of topics and documents that are re-ranked in a pair of languages."""

    topics: Positive = Field(description="number of topics")
    relevant: Positive = Field(description="relevant documents per topic")
    negative: Positive = Field(description="judged documents per topic that are not relevant")
    pair: str = Field(description="kind of text, a key of `texts`: a topic and a document together")
    documents: Positive = Field(description="number of documents in the collection")


class AnsweredSize(Strict):
    """Numbers of questions that are answered in a pair of languages."""

    dev: Positive = Field(description="number of dev questions, which are answered after each epoch")
    test: Positive = Field(description="number of test questions")
    pair: str = Field(description="kind of text, a key of `texts`: a question and its paragraph together")


class TrainingSetSize(SearchedTexts):
    """Numbers of training and dev examples, and of the passages among which hard negatives are mined."""

    examples: Sum
    dev: Sum
    collection: Sum | None = Field(None, description="passages among which hard negatives are mined")


class Rates(Strict):
    """Units of work that one core does per second."""

    xml_bytes: Positive
    web_bytes: Positive
    mined_bytes: Positive
    read_bytes: Positive
    matched_documents: Positive
    text_pairs: Positive
    vector_bytes: Positive
    scored_queries: Positive
    section_pairs: Positive
    links_of_dump: Positive
    bm25_passages: Positive
    fused_topics: Positive
    bm25_scores: Positive
    network: Positive


class TextPair(Strict):
    """Size of a pair of ILK and CLK, or of a pair of sections with their pages."""

    characters: Positive
    bytes: Positive
    tokens_bytes: Positive


class Seconds(Strict):
    """Seconds that one core takes for a unit of work."""

    page_entities: Positive
    score: Positive
    checkpoint: Positive
    other: Positive


class Miniature(Strict):
    """CPU seconds of jobs of the miniature, from which generated scales are estimated."""

    entities: int = Field(ge=1)
    weights: int = Field(ge=1, description="number of weights in the layers of a stand-in")
    other: Positive = Field(description="CPU seconds of a job whose rule has no miniature_seconds in rules.yaml")
    command: Positive


class Costs(Strict):
    """All values of costs.yaml; the file states their units."""

    FILE: ClassVar = "costs"

    shares: Shares
    step_seconds: Positive
    window_steps: Positive
    small_step_seconds: Positive
    start_minutes: Positive
    core: dict[int, Positive]
    process_bytes: Positive
    training_memory: TrainingMemory
    fill: Fill
    texts: dict[str, Text]
    benchmarks: dict[str, BenchmarkSize]
    judged: dict[str, JudgedSize]
    answered: dict[str, AnsweredSize]
    training_sets: dict[str, TrainingSetSize]
    datasets: dict[str, Positive]
    passage_bytes: Positive
    wikipedia_xml: Positive
    wikipedia_text: Positive
    wikitext103_text: Positive
    cc100_text: Positive
    documents_kept: Positive
    store_kept: Positive
    web_document: Positive
    dump_page: Positive
    example_text: dict[str, Positive]
    expansion: float = Field(ge=1, description="cost of a BM25 search with an expanded query, in plain searches")
    rates: Rates
    text_pair: TextPair
    pairs_a_megabyte: Positive
    section_pair: TextPair
    sections_a_megabyte: Positive
    passage_characters: Positive
    article: Positive
    run_bytes: Positive
    negative_bytes: Positive
    page_entities_kept: Positive
    knowledge_base_kept: Positive
    seconds: Seconds
    miniature: Miniature


# --- rules.yaml -------------------------------------------------------------------------------------------------------
class Growing(Strict):
    """A size that grows with a job's input: `base`, plus `per_mb` for each MB of a dump."""

    base: Whole
    per_mb: Annotated[float, Field(gt=0)]


Size = Whole | Growing


class RuleFacts(Strict):
    """Facts about one rule. Sizes are those of a job's first attempt, per node; None: the profile's default.

    environment the software that its jobs run in, envs/{environment}.yaml; "torch": cpu.yaml or gpu.yaml, by scale
    gpus        GPUs at the papers' sizes where cluster.yaml names none, one process each; None: it never uses one
    parallel    whether several processes can share a job, on several nodes too; otherwise it uses one GPU at most
    mem_mb      memory in MB, and `each_mb` more for each process
    minutes     the time limit; "estimated": from the cost formula
    disk_mb     disk space in MB; "estimated": from the cost formula
    threads     CPU threads of each process; "scale": as many as the scale says
    trains      whether it trains: its formula also counts FLOPs at a generated scale, and it starts with the GPUs
                that it requested or not at all, where others use the available ones (command/launch.py)
    miniature_seconds   CPU seconds of a job in the miniature (measured); None: as other short jobs
    """

    FILE: ClassVar = "rules"

    environment: Literal["data", "torch", "snakemake"] = "data"
    gpus: Annotated[int, Field(ge=1)] | None = None
    parallel: bool = False
    mem_mb: Size | None = None
    each_mb: Whole = 0
    minutes: Size | Literal["estimated"] | None = None
    disk_mb: Size | Literal["estimated"] | None = None
    threads: Literal[1, "scale"] = 1
    trains: bool = False
    miniature_seconds: Annotated[float, Field(ge=0)] | None = None


def rule_facts(rule: str) -> RuleFacts:
    """Returns the facts of a rule; a rule without an entry is a short job.

    >>> rule_facts("encode_pairs").gpus, rule_facts("average").gpus
    (1, None)
    """
    return entries(RuleFacts).get(rule, RuleFacts())


def on_gpus(parallel: bool | None = None) -> list[str]:
    """Rules that can use a GPU; `parallel` selects those whose jobs several processes can share (True) or cannot.

    >>> on_gpus(parallel=False)
    ['calibrate', 'finetune_generator', 'generate_queries', 'encode_pairs', 'neighbours', 'rerank', 'answer', 'project']
    """
    with_gpus = {rule: facts for rule, facts in entries(RuleFacts).items() if facts.gpus}
    return [rule for rule, facts in with_gpus.items() if parallel is None or facts.parallel == parallel]


# --- plain figures ----------------------------------------------------------------------------------------------------
class Device(Strict):
    """Facts about a GPU; its key is SLURM's name for it."""

    FILE: ClassVar = "devices"

    half: float = Field(gt=0, description="peak of dense 16-bit matrix products, in TFLOPS")
    single: float = Field(gt=0, description="peak of float32 without TF32, in TFLOPS")
    memory: float = Field(gt=0, description="memory in GB")


class Checkpoint(Strict):
    """Sizes of a public checkpoint."""

    FILE: ClassVar = "checkpoint_sizes"

    layers: Annotated[int, Field(ge=1)]
    width: Annotated[int, Field(ge=1)]
    inner: Annotated[int, Field(ge=1)] = Field(description="width between a layer's two linear maps")
    vocabulary: Annotated[int, Field(ge=1)]
    positions: Annotated[int, Field(ge=1)] | None = Field(
        None, description="most tokens of an input, special ones included; null: not stated here"
    )
    bytes: Bytes = Field(description="approximate size of the weights on the hub")

    @property
    def weights(self) -> int:
        """Number of weights in word embeddings and layers; the rest (positions, biases, norms) is about a hundredth."""
        return self.vocabulary * self.width + self.layers * (4 * self.width**2 + 2 * self.width * self.inner)
