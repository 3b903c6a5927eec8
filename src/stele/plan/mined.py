"""What pretraining reads: corpora, the knowledge base, and what is mined from both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.user_data import listing, part_files
from stele.config.scale import first_of, shards_of
from stele.errors import SteleError, unknown
from stele.plan.base import Plan
from stele.plan.text_sizes import store_caps
from stele.recipes import merge

KNOWLEDGE = ("wikipedia", "wikidata_items")  # the datasets that the knowledge base is made of
OF_THE_PLAN = ("corpus", "parts")  # keys of a mining recipe that say what is read, not how it is mined
OF_TOKENS = ("query_tokens", "passage_tokens")  # those of knowledge pairs that only their tokenising reads


class OwnDump(NamedTuple):
    """A dump of the user's: bytes of the articles, and whether shards can share it: an index, or several parts."""

    size: int
    shared: bool


def is_articles(name: str) -> bool:
    """Whether a dump's file holds the articles.

    >>> is_articles("x/enwiki-1-pages-articles.xml"), is_articles("enwiki-1-pages-articles-multistream-index.txt.bz2")
    (True, False)
    """
    return "pages-articles" in (base := Path(name).name) and "index" not in base


class Mined(Plan):
    """The plan with the recipes of mining and pretraining and the texts they read."""

    # --- recipes ----------------------------------------------------------------------------------------------------
    def pretraining_recipe(self, key: str) -> dict[str, Any]:
        """A model's recipe, `mining` among its keys, with the languages that are built."""
        recipe = merge.pretraining(key, self.model(key), self.sizes)
        chosen = merge.languages(recipe["languages"])
        in_scale = self._languages_in_scale({name for name, _ in self._texts(recipe | {"languages": chosen})})
        recipe["languages"] = [code for code in chosen if in_scale is None or code in in_scale]
        if "equal_compute_to" in recipe:
            recipe["equal_compute_to"] = self.objective_recipe(recipe["equal_compute_to"])
        return recipe

    def objective_recipe(self, key: str) -> dict[str, Any]:
        """A model's recipe without what only the plan reads: what the pretraining command is given."""
        return {name: value for name, value in self.pretraining_recipe(key).items() if name != "mining"}

    def pairs_recipe(self, method: str) -> dict[str, Any]:
        """A mining recipe without what only the plan reads: what the mining command is given."""
        found = merge.pairs(method, self.sizes)
        return {name: value for name, value in found.items() if name not in OF_THE_PLAN}

    def text_recipe(self, method: str) -> dict[str, Any]:
        """What mining the texts of knowledge pairs is given: another length in tokens is no other text."""
        return {name: value for name, value in self.pairs_recipe(method).items() if name not in OF_TOKENS}

    def token_recipe(self, method: str) -> dict[str, Any]:
        """What tokenising knowledge pairs is given."""
        return {name: value for name, value in self.pairs_recipe(method).items() if name in ("method", *OF_TOKENS)}

    def objective_modules(self, model: str) -> list[str]:
        recipe = self.pretraining_recipe(model)
        same_compute = recipe.get("equal_compute_to", recipe)["objective"]
        names = sorted({recipe["objective"], same_compute, "mlm"})
        return [f"{kind}.{name}" for kind in ("training.objectives", "recipes.objectives") for name in names]

    # --- what a pretraining reads -----------------------------------------------------------------------------------
    def corpus(self, language: str) -> str:
        """The corpus of a language's web text: CC-100, or the named substitute for a language it lacks."""
        return catalogue.get("languages", language).get("cc100_substitute", {"corpus": "cc100"})["corpus"]

    def corpus_of(self, mining: str, language: str) -> str:
        """The corpus that a mining recipe reads in a language: its own, or the language's web text."""
        named = merge.pairs(mining, self.sizes).get("corpus", "cc100")
        return self.corpus(language) if named == "cc100" else named

    def mines_knowledge(self, mining: str) -> bool:
        """Whether a mining recipe reads the knowledge base, and not the text of a corpus alone."""
        return "parts" in merge.pairs(mining, self.sizes)

    def mines_across(self, mining: str) -> bool:
        """Whether a mining recipe makes pairs of two languages."""
        return merge.pairs(mining, self.sizes).get("parts") == "language_pairs"

    def parts(self, mining: str, languages: Iterable[str]) -> list[str]:
        """The parts that a mining recipe has in some languages: the languages, or all pairs of them ("en-fr")."""
        if not self.mines_across(mining):
            return list(languages)
        return ["-".join(pair) for pair in combinations(sorted(set(languages)), 2)]

    def _texts(self, recipe: Mapping[str, Any]) -> set[tuple[str, str]]:
        """(dataset, part) of all texts that a pretraining recipe is mined from."""
        found = set()
        for mining in merge.stores(recipe).values():
            if self.mines_knowledge(mining):
                found |= {("wikipedia", code) for code in recipe["languages"]} | {("wikidata_items", "all")}
            else:
                found |= {(self.corpus_of(mining, code), code) for code in recipe["languages"]}
        return found

    def texts(self, model: str) -> list[tuple[str, str]]:
        """(dataset, part) of all texts that a model's own pretraining is mined from."""
        return sorted(self._texts(self.pretraining_recipe(model)))

    def mining_problem(self, model: str) -> tuple[str, str] | None:
        """(state, reason) where a scale leaves a model no text that its pretraining wants."""
        recipe = self.pretraining_recipe(model)
        reason = self.lacking(recipe, recipe["languages"])
        return ("not in scale", f"{model}: of the languages of its recipe in scale, {reason}") if reason else None

    def lacking(self, recipe: Mapping[str, Any], languages: list[str]) -> str | None:
        """What a pretraining recipe is mined from and some languages are too few for; None where they are enough."""
        for mining in merge.stores(recipe).values():
            if not self.parts(mining, languages):
                wanted = "two" if self.mines_across(mining) else "one at least"
                return f"{mining} wants {wanted} (found {', '.join(languages) or 'none'})"
        return None

    def first(self, corpus: str) -> int | None:
        """How many documents or pages of a corpus the scale takes; None: all, as of the user's own."""
        return None if self.users_folder(corpus) else first_of(self.sizes, corpus)

    # --- corpora.smk ------------------------------------------------------------------------------------------------
    def wikipedia_documents(self, language: str) -> list[str]:
        """The records of a Wikipedia's documents, shard by shard."""
        numbers = range(1, self.shards(language) + 1)
        return [self.work(f"documents/wikipedia/{language}/{number}/record.json") for number in numbers]

    def shards(self, language: str) -> int:
        """Parts that a Wikipedia's dump is cut into, each a job; a user's own, in one file without an index, is one."""
        own = self._own_dump(language)
        if own and not own.shared:
            return 1
        return shards_of(
            self.sizes, self.wiki(language), own.size if own else self._known_dumps.get(self.wiki(language))
        )

    def dump_mb(self, *languages: str) -> int:
        """About how many MB the dumps of some Wikipedias have: what time, memory and disk are reckoned by."""
        known = self._known_dumps
        own = {code: found.size for code in languages if (found := self._own_dump(code))}
        return sum(own.get(code, known.get(self.wiki(code), 1 << 20)) for code in languages) >> 20

    @cached_property
    def _known_dumps(self) -> dict[str, int]:
        """About how many bytes are read of each Wikipedia's dump, but of generated ones and the user's own."""
        known = {} if self.generated else catalogue.load("dump_sizes")
        first, page = self.first("wikipedia"), catalogue.load("costs")["dump_page"]
        return known if first is None else {wiki: min(size, first * page) for wiki, size in known.items()}

    def _own_dump(self, language: str) -> OwnDump | None:
        """The user's own dump of a Wikipedia; None where there is none, which the job will say."""
        folder = self.users_folder("wikipedia")
        if folder and language not in self._own_dumps:
            files = part_files(listing(folder), datasets.resolve("wikipedia", language, [language]))
            articles = [Path(folder).expanduser() / name for name in files if is_articles(name)]
            shared = len(articles) > 1 or any("index" in Path(name).name for name in files)
            self._own_dumps[language] = OwnDump(sum(p.stat().st_size for p in articles), shared) if articles else None
        return self._own_dumps.get(language)

    @cached_property
    def _own_dumps(self) -> dict[str, OwnDump | None]:
        """The user's own dumps: their folder is looked through once a run."""
        return {}

    def wiki(self, language: str) -> str:
        """The database name of a language's Wikipedia.

        "enwiki", or "zh_yuewiki" for the subdomain zh-yue.
        """
        entry = catalogue.get("languages", language)
        if "wikipedia" not in entry:
            raise SteleError(f"language {language}: languages.yaml names no Wikipedia of it")
        return f"{entry['wikipedia'].replace('-', '_')}wiki"

    @cached_property
    def knowledge_wikis(self) -> list[str]:
        """The wikis whose entities are looked up: of all languages in scale, whichever of them models are trained on.

        A model in a language more would otherwise rerun the one pass over Wikidata, and with it every knowledge base.
        """
        in_scale = self._languages_in_scale(KNOWLEDGE)
        have = datasets.languages_of(datasets.dataset("wikipedia"))
        return sorted(self.wiki(code) for code in have if in_scale is None or code in in_scale)

    def page_entities(self) -> str:
        return self.work("page_entities/record.json")

    def knowledge_base(self, language: str) -> str:
        return self.work(f"knowledge_base/{language}/record.json")

    # --- pairs.smk --------------------------------------------------------------------------------------------------
    @cached_property
    def mining_recipes(self) -> dict[str, list[str]]:
        """The mining recipes by the rule that starts with them: `mine` and `knowledge_pairs`."""
        found: dict[str, list[str]] = {"mine": [], "knowledge_pairs": []}
        for name in sorted(catalogue.load("recipes")["pairs"]):
            found["knowledge_pairs" if self.mines_knowledge(name) else "mine"].append(name)
        return found

    def documents(self, mining: str, language: str) -> list[str]:
        """The records of the documents that a mining recipe reads in a language."""
        corpus = self.corpus_of(mining, language)
        if corpus == "wikipedia":
            return self.wikipedia_documents(language)
        return [self.work(f"documents/{corpus}/{language}/record.json")]

    def part_codes(self, mining: str, part: str) -> list[str]:
        """The languages of a part, "en" or "en-fr"; a part of another shape is an error that shows the right one."""
        codes = part.split("-") if part not in catalogue.load("languages") else [part]
        for code in codes:
            if code not in catalogue.load("languages"):
                raise unknown("language", code, catalogue.load("languages"), f"pairs/{mining}/{part}")
        if self.parts(mining, codes) != [part]:
            raise SteleError(f"pairs/{mining}/{part}: want {' or '.join(self.parts(mining, codes)) or 'two languages'}")
        return codes

    def most_examples(self, mining: str, tokenizer: str, part: str) -> int | None:
        """The most examples that a store keeps: what training can draw from it; None: no model reads it, and all."""
        return self._store_caps.get((mining, tokenizer, part))

    @cached_property
    def _store_caps(self) -> dict[tuple[str, str, str], int]:
        return store_caps(self)

    def knowledge_pairs(self, mining: str, part: str) -> str:
        return self.work(f"knowledge_pairs/{mining}/{part}/record.json")

    def knowledge_read(self, model: str) -> set[tuple[str, str]]:
        """(mining recipe, record) of the knowledge pairs that a model is pretrained on."""
        recipe = self.pretraining_recipe(model)
        mined = [name for name in merge.stores(recipe).values() if self.mines_knowledge(name)]
        return {(n, self.knowledge_pairs(n, part)) for n in mined for part in self.parts(n, recipe["languages"])}

    def knowledge_pairs_input(self, w) -> dict[str, list[str]]:
        codes = self.part_codes(w.method, w.part)
        return {
            "knowledge_base": [self.knowledge_base(code) for code in codes],
            "documents": [record for code in codes for record in self.wikipedia_documents(code)],
        }

    def knowledge_base_arguments(self, w) -> list[str]:
        """`language=record`, of a part's languages."""
        return [f"{code}={self.knowledge_base(code)}" for code in self.part_codes(w.method, w.part)]

    def documents_arguments(self, w) -> list[str]:
        """`language=record,record...`, of a part's languages."""
        codes = self.part_codes(w.method, w.part)
        return [f"{code}={','.join(self.wikipedia_documents(code))}" for code in codes]

    # --- pretraining.smk --------------------------------------------------------------------------------------------
    def pretrain_pairs(self, w) -> dict[str, str]:
        """`store:part` -> record of the mined examples."""
        recipe = self.pretraining_recipe(w.model)
        tokenizer = self.tokenizer(w.model)
        return {
            f"{store}:{part}": self.work(f"pairs/{mining}/{tokenizer}/{part}/record.json")
            for store, mining in merge.stores(recipe).items()
            for part in self.parts(mining, recipe["languages"])
        }

    def pretrain_input(self, w) -> dict[str, Any]:
        if not self.is_trained(w.model):
            raise SteleError(
                f"{w.model} is not pretrained here: {self.checkpoint_source(w.model) or 'it has no recipe'}"
            )
        if problem := self.mining_problem(w.model):
            raise SteleError(f"encoders/{w.model}: {problem[0]}: {problem[1]}")
        return {"base": self.encoder(self.model(w.model)["base"], w.pt), "pairs": list(self.pretrain_pairs(w).values())}
