"""Transfer sets: training sets made here, from the titles of a Wikipedia or from queries that a model generates."""

from dataclasses import dataclass

from stele.catalogue import recipes
from stele.plan.data import Data
from stele.plan.paths import Paths, as_json
from stele.plan.settings import cached_method
from stele.recipes.finetuning import GeneratorRecipe
from stele.recipes.transfer import GeneratedQueriesRecipe, TitleQueriesRecipe

GENERATED = "generate_queries"  # the rule that generates queries


@dataclass(frozen=True, eq=False, repr=False)
class Transfer:
    paths: Paths
    data: Data

    @cached_method
    def titles(self, recipe: str) -> TitleQueriesRecipe:
        """Recipe that makes a training set of a Wikipedia's titles, as its command takes it."""
        return recipes.scaled("title_queries", recipe, self.paths.settings.sizes)

    @cached_method
    def generated(self, recipe: str) -> GeneratedQueriesRecipe:
        """Recipe of generated queries; its command takes all keys except those that only the plan reads."""
        return recipes.scaled("generated_queries", recipe, self.paths.settings.sizes)

    def benchmark(self, recipe: str, language: str) -> str:
        """The benchmark for whose documents queries are generated in a language."""
        return self.generated(recipe).collections[language]

    def generator_of(self, recipe: str) -> str:
        """The recipe of the models that generate the queries of a training set."""
        return self.generated(recipe).generator

    @cached_method
    def generator(self, name: str, language: str) -> GeneratorRecipe:
        """Fine-tuning recipe of a generator; its command takes all keys except those that only the plan reads."""
        return recipes.generator(name, language, self.paths.settings.sizes)

    def model(self, name: str, language: str) -> str:
        """The model that a generator is fine-tuned from."""
        return self.generator(name, language).by_language[language].model

    def translated(self, name: str, language: str) -> str:
        """The training set on which a generator is fine-tuned."""
        return self.generator(name, language).training_set.entry

    def windows(self, recipe: str, language: str) -> str:
        """Windows of the documents for which queries are generated, as JSON; they are those of the search."""
        return as_json(self.data.benchmark(self.benchmark(recipe, language)).windows.given())

    def translations(self, name: str, language: str) -> dict[str, str]:
        """Records, by `dataset:part`, of the pairs on which a generator is fine-tuned."""
        return self.data.records(self.data.training_set(self.translated(name, language)).data, [language])

    def documents(self, recipe: str, language: str) -> dict[str, str]:
        """Records, by `dataset:part`, of the collection for which queries are generated."""
        return self.data.records(self.data.benchmark(self.benchmark(recipe, language)).data, [language])

    def reads(self, training_set: str, language: str) -> dict[str, str]:
        """Records, by `dataset:part`, of the texts from which a training set is made in a language."""
        entry = self.data.training_set(training_set)
        if entry.made != GENERATED:
            return self.data.records(entry.data, [language])
        translations = self.translations(self.generator_of(training_set), language)
        return self.documents(training_set, language) | translations

    def written_by(self, training_set: str, language: str) -> str | None:
        """The public model that is fine-tuned to generate a set's queries; None if no queries are generated."""
        if self.data.training_set(training_set).made != GENERATED:
            return None
        return self.model(self.generator_of(training_set), language)
