"""What is wrong with values from outside, in words."""

import pytest

from stele.errors import SteleError
from stele.files.strict import LINES, Strict, validate


class Part(Strict):
    label: str
    size: int | dict[str, int] = 1


class Whole(Strict):
    parts: dict[str, Part | str] = {}  # noqa: RUF012
    kind: str = "plain"


def said(values, **options) -> str:
    with pytest.raises(SteleError) as error:
        validate(Whole, values, "own.yaml", **options)
    return str(error.value)


def test_a_misspelt_key_is_said_once_though_it_is_missing_too():
    with pytest.raises(SteleError) as error:
        validate(Part, {"lable": "a"}, "own.yaml")
    assert str(error.value) == "own.yaml: unknown key 'lable'; did you mean 'label'? Valid: label, size"


def test_of_several_types_the_one_that_the_value_comes_nearest_to_is_meant():
    assert said({"parts": {"a": {"label": "b", "siez": 2}}}) == (
        "own.yaml: unknown key 'parts.a.siez'; did you mean 'size'? Valid: label, size"
    )
    assert said({"parts": {"a": {"label": "b", "size": {"en": "2"}}}}).startswith("own.yaml: parts.a.size.en: ")
    assert said({"parts": {"a": 7}}).startswith("own.yaml: parts.a: ") and "\n" not in said({"parts": {"a": 7}})


def test_keys_of_another_model_at_the_same_place_are_valid_too():
    assert said({"corpsu": 1}, at=["msm"], beside=["corpus"]) == (
        "own.yaml: unknown key 'msm.corpsu'; did you mean 'corpus'? Valid: corpus, kind, parts"
    )


def test_of_many_findings_the_first_are_said_and_the_rest_counted():
    lines = said({"parts": {f"p{n}": {"label": n} for n in range(LINES + 3)}}).split("\n")
    assert len(lines) == LINES + 1 and lines[-1] == "and 3 more"
    assert len(said({"kind": ["x" * 10_000]})) < 400
