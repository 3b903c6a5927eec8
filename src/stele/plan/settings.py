"""What one run builds: its configuration, the scale, and the sizes of that scale, none of which change in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TypeVar

from stele import catalogue
from stele.catalogue import read_yaml, scale_names, user_documents
from stele.catalogue.scales import check_scale, whole_scale
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import OwnDocuments, neutral_language
from stele.config.model import Config
from stele.config.scale import load_scale, resolve_scale
from stele.errors import SteleError, unknown
from stele.recipes.scale import Scale

Method = TypeVar("Method", bound=Callable)


def cached_method(method: Method) -> Method:
    """A method whose result for some arguments is kept with its object; what it returns must not be changed."""
    name = f"_cached_{method.__name__}"

    @wraps(method)
    def call(self, *arguments):
        results = self.__dict__.setdefault(name, {})
        if arguments not in results:
            results[arguments] = method(self, *arguments)
        return results[arguments]

    return call


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """`config` as validated, the scale's name, the reason for that scale, its sizes."""

    config: Config
    scale: str
    why: str
    sizes: Scale

    @property
    def generated(self) -> bool:
        """Whether the data come from the generated internet, but for what the user names."""
        return self.sizes.generated

    def sized_for_standins(self, section: str, recipe: str) -> bool:
        """Whether a recipe's sizes were chosen for generated stand-ins, at this scale or the one that it is like."""
        if self.generated:
            return True
        like = self.sizes.like
        inherited = whole_scale(catalogue.load(f"scales/{like}"), like) if like else {"generated": False}
        rate = getattr(self.sizes, section).get(recipe, {}).get("learning_rate")
        same = rate == inherited.get(section, {}).get(recipe, {}).get("learning_rate")
        return inherited["generated"] and rate is not None and same

    @cached_property
    def languages(self) -> Mapping[str, Language]:
        """All languages that there are: the catalogue's, those that the user adds, and those of the user's data."""
        described = {**catalogue.entries(Language), **self.config.add_languages}
        others = self.documents.keys() - described.keys()
        return {**described, **{code: neutral_language(code) for code in sorted(others)}}

    @cached_property
    def documents(self) -> dict[str, OwnDocuments]:
        """The user's own documents by language; none where `user_data` names none."""
        place = self.config.user_data.get(user_documents.DATASET)
        known = {**catalogue.entries(Language), **self.config.add_languages}
        return user_documents.by_language(place, known) if place else {}

    def language(self, code: str) -> Language:
        """What is known of a language; an unknown code is an error that says the nearest."""
        if code not in self.languages:
            raise unknown("language", code, self.languages, "catalogue/languages.yaml and add_languages")
        return self.languages[code]

    @cached_property
    def scale_folder(self) -> str:
        """The scale's name as a folder: a file of the user's own is called by its stem."""
        return Path(self.scale).stem


def make_settings(config: Config) -> Settings:
    """The settings of a validated configuration; the scale is resolved here and nowhere else."""
    scale, why = resolve_scale(config)
    sizes = load_scale(scale)
    if scale not in scale_names():
        check_scale(read_yaml(scale), scale)
    if config.languages and sizes.languages is not None and not config.user_data:
        missing = [code for code in config.languages if code not in sizes.languages]
        if missing:
            valid = ", ".join(sizes.languages)
            raise SteleError(f"languages: {', '.join(missing)} not in scale {scale!r}, which has {valid}")
    return Settings(config, scale, why, sizes)
