"""The settings of a run: its configuration, its scale and that scale's sizes, all fixed during a run."""

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
from stele.errors import SteleError, check_known
from stele.recipes.scale import Scale

Method = TypeVar("Method", bound=Callable)


def unreadable(error: OSError) -> SteleError:
    """The message for a user's file that cannot be read while a run is planned."""
    return SteleError(f"{error.filename}: cannot be read ({error.strerror}); repair or remove it")


def cached_method(method: Method) -> Method:
    """Decorator that caches a method's results, by argument, in its object; callers must not change the results."""
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
    """The validated configuration, the scale's name, the reason why that scale is used, and its sizes."""

    config: Config
    scale: str
    why: str
    sizes: Scale

    @property
    def generated(self) -> bool:
        """Whether the data come from the generated internet, except those that the user provides."""
        return self.sizes.generated

    def sized_for_standins(self, section: str, recipe: str) -> bool:
        """Whether a recipe's sizes were chosen for generated stand-ins, here or in the scale that this one extends."""
        if self.generated:
            return True
        like = self.sizes.like
        inherited = whole_scale(catalogue.load(f"scales/{like}"), like) if like else {"generated": False}
        rate = getattr(self.sizes, section).get(recipe, {}).get("learning_rate")
        same = rate == inherited.get(section, {}).get(recipe, {}).get("learning_rate")
        return inherited["generated"] and rate is not None and same

    @cached_property
    def languages(self) -> Mapping[str, Language]:
        """All known languages by code: the catalogue's, those in `add_languages`, and those of the user's documents."""
        described = {**catalogue.entries(Language), **self.config.add_languages}
        others = self.documents.keys() - described.keys()
        return {**described, **{code: neutral_language(code) for code in sorted(others)}}

    @cached_property
    def documents(self) -> dict[str, OwnDocuments]:
        """The user's own documents by language; empty if `user_data` names none."""
        place = self.config.user_data.get(user_documents.DATASET)
        known = {**catalogue.entries(Language), **self.config.add_languages}
        try:
            return user_documents.by_language(place, known) if place else {}
        except OSError as error:  # a link that leads nowhere
            raise unreadable(error) from None

    def language(self, code: str) -> Language:
        """The entry of a language. Raises SteleError with the nearest known code if the code is unknown."""
        check_known("language", code, self.languages, "catalogue/languages.yaml and add_languages")
        return self.languages[code]

    @cached_property
    def scale_folder(self) -> str:
        """The scale's name as a folder name; a scale file's stem."""
        return Path(self.scale).stem


def make_settings(config: Config) -> Settings:
    """The settings of a validated configuration with its scale. Raises SteleError for languages outside the scale."""
    scale, why = resolve_scale(config)
    sizes = load_scale(scale)
    if scale not in scale_names():
        check_scale(read_yaml(scale), scale)
    if config.languages and sizes.languages is not None and not config.user_data:
        missing = [code for code in config.languages if code not in sizes.languages]
        if missing:
            valid = ", ".join(sizes.languages)
            raise SteleError(f"languages: scale {scale!r} does not have {', '.join(missing)}; choose from {valid}")
    return Settings(config, scale, why, sizes)
