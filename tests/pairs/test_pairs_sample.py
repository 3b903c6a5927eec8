"""A store that is capped: a uniform sample, the same whatever the shards, and the number that there would be in all."""

from collections import Counter

import numpy as np
import pytest
from mining_texts import random_documents

from stele.files.atomic import MARK
from stele.files.digests import files_digest
from stele.pairs.mine import Sample
from stele.training.store import Store

CROP = {"method": "crop", "sentences": 5}


def test_a_cap_above_the_size_changes_no_byte(mined):
    documents = random_documents(40)
    whole = mined(documents, **CROP)
    capped = mined(documents, **CROP, most=len(whole.examples))
    assert files_digest(capped.folder) == files_digest(whole.folder)
    assert capped.record["examples_in_all"] == whole.record["examples_in_all"] == len(whole.examples)
    assert sorted(path.name for path in whole.folder.iterdir()) == sorted(
        [MARK, "examples.npy", "record.json", "segments.npy", "tokens.npy"]
    )


def test_a_sample_is_of_whole_documents_in_their_order_and_says_how_many_there_are(mined):
    documents = random_documents(400)
    whole = mined(documents, **CROP)
    capped = mined(documents, **CROP, most=200)
    assert 150 < len(capped.examples) <= 200
    left = iter(whole.examples)
    assert all(example in left for example in capped.examples)  # a subsequence
    assert capped.record["documents"] == 400
    assert capped.record["examples_in_all"] == pytest.approx(len(whole.examples), rel=0.3)


def test_shards_and_their_order_do_not_choose(mined):
    documents = random_documents(300)
    one = mined(documents, **CROP, most=150).examples
    three = mined(documents, **CROP, most=150, shards=3).examples
    backwards = mined(documents[::-1], **CROP, most=150).examples
    assert one == three
    assert Counter(map(str, one)) == Counter(map(str, backwards)) and one != backwards


def test_pairs_of_another_seed_differ_and_a_smaller_sample_is_part_of_a_larger(mined):
    documents = random_documents(300)
    one, other = (Counter(map(str, mined(documents, **CROP, most=150, seed=seed).examples)) for seed in (3, 4))
    assert one != other
    msm = {"method": "msm", "sentences": 5}  # which draws nothing
    few, many = (Counter(map(str, mined(documents, **msm, most=most).examples)) for most in (20, 90))
    assert few <= many and few.total() <= 20 < many.total() <= 90


def test_every_document_is_as_likely_to_be_kept(tmp_path):
    """Of 200 documents of one to three examples a fifth is kept, of early and late, short and long ones alike."""
    kept, drawn = Counter(), 400
    documents = [(f"d{n}", [[np.array([n])]] * (1 + n % 3)) for n in range(200)]
    sums = 0
    for seed in range(drawn):
        (folder := tmp_path / str(seed)).mkdir()
        facts = Sample(80, seed).write(folder, documents)
        kept.update(set(Store(folder).tokens.tolist()))
        sums += facts["examples_in_all"]
    shares = np.array([kept[n] for n in range(200)]) / drawn
    assert shares.mean() == pytest.approx(0.2, abs=0.01)
    for group in (shares[:100], shares[100:], shares[0::3], shares[1::3], shares[2::3]):
        assert group.mean() == pytest.approx(0.2, abs=0.012)  # three standard deviations of a third of them
    assert sums / drawn == pytest.approx(sum(1 + n % 3 for n in range(200)), rel=0.02)


def test_a_document_with_more_examples_than_the_cap_is_kept_whole(tmp_path):
    stored = Sample(2, 1).write(tmp_path, [("one", [[np.array([n])] for n in range(7)])])
    assert stored["examples"] == stored["examples_in_all"] == 7


@pytest.mark.parametrize("sizes", [[25, *[1] * 500], [*[1] * 500, 25], [1, 60, 25, *[1] * 500]])
def test_a_document_larger_than_twice_the_cap_ends_no_sampling(tmp_path, sizes):
    """Wherever it stands: the documents behind it were left out, and not counted."""
    sample, counts = Sample(10, 0), Counter()
    size = {f"d{n}": number for n, number in enumerate(sizes)}
    wanted = sample.wanted([(f"d{n}", []) for n in range(len(sizes))], counts)
    stored = sample.write(tmp_path, ((doc_id, [[np.array([1])]] * size[doc_id]) for doc_id, _ in wanted))
    assert counts["documents"] == len(sizes)
    assert stored["examples"] == 10 and stored["examples_in_all"] == pytest.approx(sum(sizes), rel=0.5)


def test_documents_above_the_bound_are_not_even_tokenised(tmp_path):
    """Of 5,000 documents for a sample of 100 some hundred are: 100 for each time that their number doubles."""
    sample, counts = Sample(100, 1), Counter()
    wanted = sample.wanted([(f"d{n}", []) for n in range(5000)], counts)
    stored = sample.write(tmp_path, ((doc_id, [[np.array([1])]]) for doc_id, _ in wanted))
    assert stored["examples"] == 100 and stored["examples_in_all"] == pytest.approx(5000, rel=0.3)
    assert counts["documents"] == 5000 and 3900 < counts["documents_not_sampled"] < 4600
