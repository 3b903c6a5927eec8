"""Whether the places that a run fetches from answer: mirrors that are folders, and one small question to each host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

from stele.catalogue import datasets, hub
from stele.cluster.requests import JobRequest
from stele.plan.plan import Plan

SECONDS = 5.0  # for an answer
AT_ONCE = 16  # hosts
WAYS = "come again later, or name a mirror (mirrors:) or your own folders (user_data:) in config.yaml"


def files(plan: Plan, job: JobRequest) -> list[list[str]]:
    """The upstream addresses of the files that a job fetches, each with those that are as good; none of other jobs."""
    w = SimpleNamespace(**job.wildcards)
    if job.rule == "dataset" and not plan.sources.dataset_inputs(w) and not plan.data.folder(w.dataset):
        languages, date = plan.sources.part_languages(w.dataset, w.part), plan.sources.dump_date(w.dataset)
        source = plan.data.resolve(w.dataset, w.part, languages, date)
        return [file.addresses for file in source.files if not file.optional]
    if job.rule == "checkpoint" and not plan.world.standin(w.model):
        source = plan.models.checkpoint_source(w.model)
        if "path" not in source and (repository := hub.repository(source)):
            return [[hub.address(*repository, name) for name in (hub.CONFIG, hub.MODULES)]]
    return []


def locations(addresses: Sequence[str], mirrors: Sequence[str], offline: bool) -> list[str] | None:
    """The addresses where a file is looked for; None where a folder has it."""
    below = [datasets.mirror_path(url) for url in addresses]
    if any(Path(mirror, path).is_file() for mirror in mirrors if not _is_address(mirror) for path in below):
        return None
    of_mirrors = [f"{m.rstrip('/')}/{quote(path)}" for m in mirrors if _is_address(m) for path in below]
    return [*of_mirrors, *([] if offline else addresses)]


def _is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def _host(url: str) -> str:
    return urlsplit(url).netloc


def unanswered(urls: Mapping[str, str], seconds: float = SECONDS) -> dict[str, str]:
    """Host -> why, of hosts (each with an address there) that do not answer; an answer of any kind is one.

    All are queried at once.
    """
    import requests

    def why_silent(url: str) -> str | None:
        try:
            requests.head(url, timeout=seconds, allow_redirects=False)
        except requests.RequestException as error:
            return type(error).__name__
        return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(urls, pool.map(why_silent, urls.values()), strict=True))
    return {host: why for host, why in answers.items() if why}


def problems(plan: Plan, jobs: Iterable[JobRequest]) -> dict[str, list[str]]:
    """What cannot be fetched from here as things are, a line for each place -> the logs of the jobs that want it."""
    mirrors, offline = plan.settings.config.mirrors, plan.settings.config.offline
    waiting: dict[tuple[str, ...], list[JobRequest]] = {}  # by hosts that are equally good
    address_of: dict[str, str] = {}
    for job in jobs:
        for addresses in files(plan, job):
            urls = locations(addresses, mirrors, offline)
            if urls is not None:
                address_of |= {_host(url): url for url in urls}
                group = waiting.setdefault(tuple(dict.fromkeys(map(_host, urls))), [])
                if job not in group[-1:]:
                    group.append(job)
    silent_hosts = unanswered(address_of) if address_of else {}
    lines = {
        _line(hosts, silent_hosts, group): [job.log for job in group]
        for hosts, group in waiting.items()
        if all(host in silent_hosts for host in hosts)
    }
    missing_folders = [mirror for mirror in mirrors if not _is_address(mirror) and not Path(mirror).is_dir()]
    everything = [log for logs in lines.values() for log in logs]
    return lines | {f"mirrors: {mirror} is no folder": everything for mirror in missing_folders if waiting}


def _line(hosts: Sequence[str], silent_hosts: Mapping[str, str], jobs: Sequence[JobRequest]) -> str:
    names = [job.name for job in jobs]
    what = f"{len(names)} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"
    if not hosts:
        return f"in no mirror, and the network is off (offline: true): {what}"
    return f"no answer from {', '.join(f'{host} ({silent_hosts[host]})' for host in hosts)}: {what}"
