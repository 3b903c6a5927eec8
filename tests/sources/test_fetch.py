"""Downloads against a server that cuts, lies, refuses and changes its mind."""

import email.utils
import gzip
import hashlib
import itertools
import json
import random
import threading
import time
from functools import partial
from types import SimpleNamespace

import pytest

from stele.sources.download import http
from stele.sources.download.fetch import fetch, fetch_first, finished
from stele.sources.download.http import Failed, NotFound, Policy

BODY = random.Random(1).randbytes(300_000)
ELSEWHERE = '{"url": "http://elsewhere/", "etag": "\\"a\\""}'  # a note of another address
SHA = hashlib.sha256(BODY).hexdigest()
TAG = f'"{hashlib.md5(BODY).hexdigest()}"'
QUICK = Policy(attempts=4, base=0.001, cap=0.01)
OLD = "Mon, 01 Jan 2024 00:00:00 GMT"


@pytest.fixture
def url(site):
    site.files["/a/corpus.gz"] = BODY
    return f"{site.address}/a/corpus.gz"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "state" / "corpus.gz"


@pytest.fixture
def part(target):
    """part(data, note) -> what an earlier run left of the file, with its note."""

    def write(data, note):
        target.parent.mkdir(parents=True)
        target.with_name("corpus.gz.part").write_bytes(data)
        target.with_name("corpus.gz.part.json").write_text(note)

    return write


def leftovers(target):
    return sorted(path.name for path in target.parent.iterdir() if path != target)


def test_a_cut_connection_is_continued_where_it_ended(site, url, target):
    site.faults["/a/corpus.gz"] = [{"cut": 100_000}, {"end": 90_000}]
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == BODY
    first, second, third = site.requests
    assert first.range is None
    starts = [int(request.range.removeprefix("bytes=").rstrip("-")) for request in (second, third)]
    assert 0 < starts[0] <= 100_000  # a reset may lose what was under way, no more
    assert starts[1] == starts[0] + 90_000
    assert {second.if_range, third.if_range} == {TAG}  # never glued to another version
    assert leftovers(target) == []


ANOTHER_RANGE = {"set": {"Content-Range": "bytes 100000-199999/300000"}, "end": 100_000}
OVERCOME = {  # the server's first answers, the ranges that are asked for
    "the whole in place of the rest": ([{"end": 100_000}, {"whole": True}], [None, "bytes=100000-"]),
    "from another place than was asked for": ([{"end": 100_000}, {"shift": 50}], [None, "bytes=100000-", None]),
    "less than was asked for": ([{"end": 100_000}, ANOTHER_RANGE], [None, "bytes=100000-", "bytes=200000-"]),
    **{f"HTTP {status} twice": ([{"status": status}] * 2, [None] * 3) for status in (429, 500, 503)},
    **{  # which leaves the usual pause
        f"to be asked again after {value}": ([{"status": 503, "headers": {"Retry-After": value}}], [None] * 2)
        for value in (
            *("\u00b2", "\u00b9" * 5, "-1", "1e9", ""),
            *("Mon, 99 Jan 2024 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 +9999"),
        )
    },
}


@pytest.mark.parametrize(("faults", "ranges"), OVERCOME.values(), ids=OVERCOME)
def test_what_a_server_does_at_first_leaves_a_whole_file(site, url, target, faults, ranges):
    site.faults["/a/corpus.gz"] = [*faults]
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == BODY
    assert [request.range for request in site.requests] == ranges


def test_a_file_that_changed_between_tries_is_fetched_anew(site, url, target):
    site.faults["/a/corpus.gz"] = [{"status": 503}, {"end": 100_000}, {"status": 503}]
    new = random.Random(2).randbytes(250_000)
    with pytest.raises(Failed):
        fetch(url, target, {}, Policy(attempts=3, base=0.001))
    site.files["/a/corpus.gz"] = new
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == new
    assert site.requests[-1].if_range  # it asked for the rest of the old one, and got the whole new one


def test_without_a_validator_nothing_is_glued_unless_a_digest_can_tell(site, url, target):
    site.tags = False
    site.faults["/a/corpus.gz"] = [{"end": 100_000}]
    fetch(url, target, {}, QUICK)
    assert site.requests[1].range is None and target.read_bytes() == BODY
    site.faults["/a/corpus.gz"] = [{"end": 100_000}]
    fetch(url, target.with_name("two"), {"sha256": SHA}, QUICK)
    assert site.requests[3].range == "bytes=100000-"


def test_a_complete_part_is_recognised(site, url, target, part):
    """Killed between the last byte and the move: the range begins at the end (HTTP 416)."""
    part(BODY, json.dumps({"url": url, "etag": TAG, "total": len(BODY)}))
    fetch(url, target, {"sha256": SHA}, QUICK)
    assert target.read_bytes() == BODY and len(site.requests) == 1 and site.requests[0].sent == 0
    assert leftovers(target) == []


# --- one file of two versions: the server ignores If-Range and sends the rest of another ------------------------------
NEW = random.Random(4).randbytes(len(BODY))
ALIKE = {"ETag": '"a"'}


def changed(site, first, then, body=NEW, **careless):
    """The first answer ends after 100,000 bytes; then the file is `body`, whose rest comes with the headers `then`."""
    site.tags = False
    site.faults["/a/corpus.gz"] = [{"end": 100_000, "set": first}, {"careless": True, "set": then, **careless}]

    def note(path):
        return body if len(site.requests) > 1 else BODY

    del site.files["/a/corpus.gz"]
    site.more = note


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"ETag": '"a"'}, {"ETag": '"b"'}),
        ({"ETag": '"a"'}, {}),
        ({"ETag": '"a"'}, {"ETag": 'W/"a"'}),
        ({"ETag": 'W/"a"'}, {"ETag": 'W/"a"'}),
        ({"ETag": "a"}, {"ETag": "a"}),
        ({"ETag": '""'}, {"ETag": '""'}),
        ({"Last-Modified": OLD}, {"Last-Modified": OLD}),
        (ALIKE, {**ALIKE, "Content-Range": "bytes 100000-299999/300001"}),
        ({**ALIKE, "X-Linked-ETag": "0" * 64}, {**ALIKE, "X-Linked-ETag": "1" * 64}),
        (ALIKE, {**ALIKE, "Content-Range": "bytes 100001-299999/300000"}),
        (ALIKE, {**ALIKE, "Content-Range": "bytes 100000-99999/300000"}),
        (ALIKE, {**ALIKE, "Content-Range": "bytes 100000-300000/300000"}),
        (ALIKE, {**ALIKE, "Content-Range": None}),
        (ALIKE, {**ALIKE, "Content-Range": "items 100000-299999/300000"}),
    ],
)
def test_the_rest_of_another_version_is_never_appended(site, url, target, caplog, first, then):
    """RFC 9110, 15.3.7.3: pieces are joined only where they share a strong validator."""
    changed(site, first, then)
    with caplog.at_level("INFO"):
        fetch(url, target, {}, QUICK)
    assert target.read_bytes() == NEW and leftovers(target) == []
    assert len(site.requests) == 2 or ("from the start" in caplog.text and site.requests[2].range is None)


@pytest.mark.parametrize("known", [{"total": len(BODY)}, {}])
def test_no_half_of_another_version_is_complete(site, url, target, part, known):
    """The new version is as long as what is there of the old one: HTTP 416 says nothing of completeness."""
    part(BODY[:100_000], json.dumps({"url": url, "etag": TAG, **known}))
    site.files["/a/corpus.gz"], site.faults["/a/corpus.gz"] = NEW[:100_000], [{"careless": True}]
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == NEW[:100_000] and site.requests[0].range == "bytes=100000-"


@pytest.mark.parametrize("size", [None, "Bytes 100000-299999/300000", "bytes 100000-299999/*"])
def test_the_rest_of_the_same_version_is_appended(site, url, target, size):
    site.faults["/a/corpus.gz"] = [{"end": 100_000}, {"set": {"Content-Range": size} if size else {}}]
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == BODY and [request.range for request in site.requests] == [None, "bytes=100000-"]
    assert site.requests[1].if_range == TAG


def test_what_the_hub_said_of_a_file_is_checked_though_the_rest_came_from_a_host_that_says_nothing(site, url, target):
    changed(site, {"X-Linked-ETag": SHA}, {})
    with pytest.raises(Failed, match=f"{SHA}.*twice"):
        site.faults["/a/corpus.gz"] += [{"set": {"X-Linked-ETag": SHA}}]
        fetch(url, target, {}, QUICK)
    assert not target.exists()


def test_redirects_to_hosts_of_two_versions_are_not_joined(site, target):
    site.files |= {"/one": BODY, "/two": NEW}
    site.faults["/one"] = [{"end": 100_000}]
    site.faults["/two"] = [{"careless": True}]
    first = leads(site, "/x", "/one")
    site.faults["/x"] += [{"status": 302, "headers": {"Location": "/two"}}] * 2
    fetch(first, target, {}, QUICK)
    assert target.read_bytes() == NEW and [request.range for request in site.of("/two")] == ["bytes=100000-", None]


@pytest.mark.parametrize(
    "damage", ["[]", "{", "", '{"url": 1}', '{"url": "URL", "etag": 1, "total": "x"}', "{}", ELSEWHERE]
)
def test_damaged_notes_and_those_of_another_address_begin_again(site, url, target, part, damage):
    part(b"x" * 1000, damage.replace("URL", url))
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == BODY and site.requests[0].range is None


@pytest.mark.parametrize("damage", ["[]", "{", '{"sha256": 5}', '{"bytes": "9"}', '{"bytes": 1}'])
def test_a_file_whose_published_digest_is_lost_is_no_finished_one(tmp_path, damage):
    target = tmp_path / "corpus.gz"
    for note, whole in ((json.dumps({"sha256": SHA}), True), (damage, False)):
        target.write_bytes(BODY)
        target.with_name("corpus.gz.published.json").write_text(note)
        assert (finished(target, {}) is not None) == target.exists() == whole


@pytest.mark.parametrize("fault", [{"wrong": True}, {"short": 250_000}])
def test_wrong_bytes_are_thrown_away_and_fetched_once_more(site, url, target, fault):
    site.faults["/a/corpus.gz"] = [fault]
    fetch(url, target, {"sha256": SHA}, QUICK)
    assert target.read_bytes() == BODY
    assert [request.range for request in site.requests] == [None, None]


HUB = {"X-Linked-ETag": f'"{SHA}"', "X-Linked-Size": str(len(BODY))}
TOO_MUCH = "the server sent more than the file's 300,000 bytes"
ZEROS = "0" * 64
OTHER = hashlib.sha256(bytes(255 - byte for byte in BODY)).hexdigest()  # of the wrong bytes
TO_ITSELF = {"status": 302, "headers": {"Location": "/a/corpus.gz"}}
REFUSED = {  # what is expected of the file, the server's next answers and its headers, the error, how often it is asked
    "another size": ({"bytes": 400_000}, [], {}, "expected 400,000 bytes, the server has 300,000", 4),
    "more than the catalogue says": ({"bytes": len(BODY), "sha256": SHA}, [{"endless": True}], {}, TOO_MUCH, 1),
    "more than the hub says": ({}, [{"endless": True}], HUB, TOO_MUCH, 1),
    "no such file": ({}, [{"status": 404}] * 3, {}, "404", 1),
    "no rights": ({}, [{"status": 401}] * 3, {}, "401", 1),
    "forbidden": ({}, [{"status": 403}] * 3, {}, "403", 1),
    "come back tomorrow": ({}, [{"status": 503, "headers": {"Retry-After": "86400"}}], {}, "86400 s", 1),
    "redirects": ({}, [TO_ITSELF] * 99, {}, "more than 10 redirects", 11),
    # Python undoes chunks alone, and of several codings none: the sizes of the chunks would stand in the file
    "a coding": ({}, [], {"Transfer-Encoding": "gzip, chunked"}, "Transfer-Encoding: gzip, chunked", 1),
    "wrong bytes twice": ({"sha256": SHA}, [{"wrong": True}] * 2, {}, f"/a/corpus.gz: .*{SHA}.*{OTHER}", 2),
    "another SHA-1": ({"sha1": "0" * 40}, [], {}, "sha1", 2),
    "another digest than the hub's": ({}, [], {"X-Linked-ETag": f'"{ZEROS}"'}, ZEROS, 2),
    **{
        f"HTTP {status} without end": ({}, [{"status": status}] * 9, {}, f"HTTP {status}; gave up after 4 attempts", 4)
        for status in (429, 500, 503)
    },
}


@pytest.mark.parametrize(("expected", "faults", "headers", "message", "asked"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_become_the_file_is_refused_at_once(site, url, target, expected, faults, headers, message, asked):
    """A server that announces nothing could fill the disk."""
    site.faults["/a/corpus.gz"], site.headers["/a/corpus.gz"] = [*faults], headers
    with pytest.raises(NotFound if message == "404" else Failed, match=message):
        fetch(url, target, expected, QUICK)
    assert not target.exists() and leftovers(target) == [] and len(site.requests) == asked


def test_without_a_size_or_a_digest_an_early_end_cannot_be_told_and_is_refused(site, url, target):
    site.faults["/a/corpus.gz"] = [{"endless": False, "short": 100_000, "whole": True}] * 2
    with pytest.raises(Failed, match="gives no size"):
        fetch(url, target, {}, QUICK)
    with pytest.raises(Failed, match="gives no size"):
        fetch_first(url, target.with_name("first"), len(BODY), QUICK)
    assert not target.exists() and leftovers(target) == [] and len(site.requests) == 2


def test_a_connection_that_is_too_slow_is_given_up_and_continued(site, url, target):
    slow = {"drip": 0.002}
    site.faults["/a/corpus.gz"] = [slow]
    policy = partial(Policy, base=0.001, slowest=1 << 20, slow=0.2)
    fetch(url, target, {"sha256": SHA}, policy(attempts=100))  # on a busy machine others may be too slow, too
    second = site.requests[1]
    assert target.read_bytes() == BODY and 0 < int(second.range.removeprefix("bytes=").rstrip("-")) < 10_000
    site.faults["/a/corpus.gz"] = [slow, slow]
    again = target.with_name("again.gz")
    with pytest.raises(Failed, match=r"bytes in \d+ s, less than 1,048,576 a second; gave up after 2 attempts"):
        fetch(url, again, {}, policy(attempts=2))
    kept = again.with_name("again.gz.part").stat().st_size
    assert 0 < kept < 10_000
    fetch(url, again, {}, QUICK)  # typed again, it goes on
    assert site.requests[-1].range == f"bytes={kept}-" and again.read_bytes() == BODY


# --- redirects --------------------------------------------------------------------------------------------------------
def leads(site, path, location, **fault):
    site.files.setdefault(path, b"a page that says so" * 100)
    site.faults[path] = [{"status": 302, "headers": {"Location": location}, **fault}]
    return f"{site.address}{path}"


def test_redirects_are_followed_with_the_range_and_what_each_of_them_publishes(site, url, target):
    site.faults["/a/corpus.gz"] = [{"end": 100_000}]
    first = leads(site, "/first", "second")
    leads(site, "/second", url)
    site.faults["/first"][0]["headers"] |= {"X-Linked-ETag": f'"{SHA}"'}
    site.faults["/first"] *= 2
    site.faults["/second"] *= 2
    assert fetch(first, target, {}, QUICK)[1] == {"sha256": SHA}
    assert target.read_bytes() == BODY and site.of("/a/corpus.gz")[1].range == "bytes=100000-"


@pytest.mark.parametrize(
    ("location", "message"),
    [
        *((path, "not an http address; not followed") for path in ("file:///etc/passwd", "ftp://a.org/x", "data:,x")),
        ("FILE:/etc/passwd", "not an http address; not followed"),
        *((address, "/x: ") for address in ("http://[::1", "http://a.org:99999/", "http://a.org:x/", "http://[zz]/")),
        ("http://\u00b2..b/", "/x: "),
    ],
)
def test_redirects_lead_to_addresses_of_http_only(site, target, location, message):
    with pytest.raises(Failed, match=message) as caught:
        fetch(leads(site, "/x", location), target, {}, QUICK)
    assert ("not followed" not in message or location in str(caught.value)) and not target.exists()


def test_the_body_of_a_redirect_is_not_read(site, url, target):
    fetch(leads(site, "/x", url, endless=True), target, {}, QUICK)
    assert target.read_bytes() == BODY and site.of("/x")[0].sent < 50_000_000


def test_a_way_that_is_no_longer_encrypted_is_taken_only_where_a_digest_tells():
    class Session:
        def get(self, address, **options):
            there = address.startswith("http:")
            headers = {} if there else {"Location": "http://a.org/y"}
            return SimpleNamespace(status_code=200 if there else 301, headers=headers, close=lambda: None)

    assert http.get(Session(), "https://a.org/x", {}, QUICK, checkable=True)[0].status_code == 200
    with pytest.raises(Failed, match=r"redirects to 'http://a\.org/y'"):
        http.get(Session(), "https://a.org/x", {}, QUICK, checkable=False)


def test_md5_and_sha1_are_checked_too(url, target):
    fetch(url, target, {"md5": hashlib.md5(BODY).hexdigest(), "sha1": hashlib.sha1(BODY).hexdigest()}, QUICK)


def test_the_digest_that_the_hub_gives_is_checked(site, url, target):
    site.headers["/a/corpus.gz"] = HUB
    _, published = fetch(url, target, {}, QUICK)
    assert published == {"sha256": SHA, "bytes": len(BODY)}


def test_retry_after_is_waited_for_in_seconds_or_as_a_date(site, url, target, monkeypatch):
    waited = []

    def note(seconds):  # the site's own threads sleep, too
        if threading.current_thread() is threading.main_thread():
            waited.append(seconds)

    monkeypatch.setattr(time, "sleep", note)
    date = email.utils.formatdate(time.time() + 240, usegmt=True)
    asked = [{"status": 503, "headers": {"Retry-After": "7"}}, {"status": 429, "headers": {"Retry-After": date}}]
    site.faults["/a/corpus.gz"] = asked
    fetch(url, target, {}, QUICK)
    assert waited[0] == 7 and 120 < waited[1] <= 240


def test_pauses_double_up_to_a_cap_with_jitter_that_is_seeded():
    policy = Policy(base=1.0, cap=8.0, seed=3)
    first = list(itertools.islice(policy.pauses("u"), 6))
    assert first == list(itertools.islice(policy.pauses("u"), 6))
    assert first != list(itertools.islice(policy.pauses("other"), 6))
    for pause, full in zip(first, [1, 2, 4, 8, 8, 8], strict=True):
        assert full / 2 <= pause <= full


def test_progress_renews_patience_but_standing_still_does_not(site, url, target):
    site.files["/a/corpus.gz"] = big = random.Random(3).randbytes(6 << 20)
    site.faults["/a/corpus.gz"] = [{"end": (1 << 20) + 1}] * 5
    fetch(url, target, {}, Policy(attempts=2, base=0.001))
    assert target.read_bytes() == big
    site.faults["/a/corpus.gz"] = [{"end": 10, "whole": True}] * 9
    with pytest.raises(Failed, match="gave up after 3"):
        fetch(url, target, {}, Policy(attempts=3, base=0.001))


def test_a_fetch_gives_up_where_nobody_listens(target):
    with pytest.raises(Failed, match="gave up after 2"):
        fetch("http://127.0.0.1:9/x", target, {}, Policy(attempts=2, base=0.001))


def test_compressed_files_stay_compressed_whatever_the_server_says(site, url, target):
    """Some servers send .gz files with Content-Encoding: gzip, which clients like to undo."""
    site.files["/a/corpus.gz"] = packed = gzip.compress(b"text" * 1000)
    site.headers["/a/corpus.gz"] = {"Content-Encoding": "gzip"}
    fetch(url, target, {}, QUICK)
    assert target.read_bytes() == packed


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_a_body_that_was_compressed_on_the_way_is_no_file(site, target, encoding):
    """Asked for as it is (Accept-Encoding: identity), it must not come otherwise and be stored so."""
    site.files["/config.json"] = b"not JSON any more"
    site.headers["/config.json"] = {"Content-Encoding": encoding}
    with pytest.raises(Failed, match=f"Content-Encoding: {encoding}"):
        fetch(f"{site.address}/config.json", target, {}, QUICK)
    assert not target.exists() and leftovers(target) == [] and len(site.requests) == 1
    assert site.requests[0].accepts == "identity"


def test_a_page_of_html_is_no_file(site, url, target):
    for kind in ("text/html; charset=utf-8", "Text/HTML", "TEXT/HTML;charset=utf-8", "application/xhtml+xml"):
        site.headers["/a/corpus.gz"] = {"content-TYPE": kind}
        with pytest.raises(Failed, match="a page of HTML"):
            fetch(url, target, {}, QUICK)
    fetch(url, target, {"sha256": SHA}, QUICK)  # a digest knows better than a header
    assert target.read_bytes() == BODY
