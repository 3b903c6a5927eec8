"""Wrong encodings are refused with the key; passages are written as the spec says."""

import pytest

from stele.errors import SteleError
from stele.files.strict import validate
from stele.recipes.encoding import EncodingSpec


@pytest.mark.parametrize(
    ("form", "with_title", "without"),
    [
        ("title_text_pair", ("Title", "Text."), "Text."),
        ("title_text", "Title Text.", "Text."),
        ("text", "Text.", "Text."),
    ],
)
def test_a_passage_is_its_title_and_text_as_the_format_says(form, with_title, without):
    spec = EncodingSpec(pooling="cls", passage_format=form)
    assert spec.passage("Title", "Text.") == with_title
    assert spec.passage("", "Text.") == without
    assert spec.passage("Title", "") == ("" if form == "text" else "Title")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pooling": "max"}, r"pooling.*'cls', 'mean', 'last' or 'pooler'"),
        ({}, "pooling"),
        ({"pooling": "cls", "normalise": True}, r"unknown key 'normalise'; did you mean 'normalize'\?"),
        ({"pooling": "cls", "query_length": 2}, "query_length"),
        ({"pooling": "pooler", "layer": 3}, "the pooler belongs to the last layer"),
    ],
)
def test_wrong_values_of_an_encoding_are_refused(values, message):
    with pytest.raises(SteleError, match=message):
        validate(EncodingSpec, values, "encoding")
