"""The plan: from the configuration and the catalogue to paths, inputs and params of every job. Nothing is built here.

The rules of the workflow ask its parts, one a stage; each part is given only those below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stele.config.model import Config
from stele.plan.adaptation import AdaptationParts
from stele.plan.availability import Availability
from stele.plan.calibration import Calibration
from stele.plan.cards import Cards
from stele.plan.corpora import Corpora
from stele.plan.data import Data
from stele.plan.figures import Figures
from stele.plan.finetuning import Finetuning
from stele.plan.mining import Mining
from stele.plan.models import Models
from stele.plan.paths import Paths
from stele.plan.pretraining import Pretraining
from stele.plan.protocols import Protocols
from stele.plan.requested import RequestedOutputs, Today, make_today
from stele.plan.retrieval import Retrieval
from stele.plan.rows import Rows, UpstreamParts
from stele.plan.scoring import Scoring
from stele.plan.settings import Settings, make_settings
from stele.plan.shown import Shown
from stele.plan.sources import Sources
from stele.plan.tables import Tables
from stele.plan.text_sizes import TextSizes
from stele.plan.transfer import Transfer
from stele.plan.world import World


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The parts of a plan, from the bottom up."""

    settings: Settings
    paths: Paths
    models: Models
    data: Data
    protocols: Protocols
    mining: Mining
    world: World
    corpora: Corpora
    pretraining: Pretraining
    text_sizes: TextSizes
    transfer: Transfer
    finetuning: Finetuning
    availability: Availability
    sources: Sources
    calibration: Calibration
    rows: Rows
    retrieval: Retrieval
    scoring: Scoring
    cards: Cards
    adaptation: AdaptationParts
    tables: Tables
    figures: Figures
    today: Today
    requested: RequestedOutputs

    def dump_mb(self, wildcards: Mapping[str, str]) -> int:
        """About how many MB of Wikipedia dumps a job reads, whose rule's sizes grow with them."""
        part = wildcards["part"]
        if "method" in wildcards:
            return self.corpora.dump_mb(*self.mining.part_codes(wildcards["method"], part))
        shards = self.corpora.shards(part) if "shard" in wildcards else 1
        return self.corpora.dump_mb(part) // shards


def make_plan(config: Config) -> Plan:
    """The plan of a validated configuration."""
    settings = make_settings(config)
    paths = Paths(settings)
    models, data = Models(settings, paths), Data(settings, paths)
    protocols, world, corpora = Protocols(data), World(settings, paths, models), Corpora(settings, paths, data)
    mining = Mining(settings, paths, corpora)
    pretraining = Pretraining(settings, paths, models, data, mining)
    transfer = Transfer(paths, data)
    finetuning = Finetuning(settings, paths, models, data, transfer)
    availability = Availability(models, data, pretraining, finetuning)
    sources = Sources(settings, paths, models, data, world, pretraining, finetuning)
    calibration = Calibration(paths, data, protocols, finetuning)
    shown = Shown(settings, models)
    rows = Rows(UpstreamParts(paths, models, data, protocols, finetuning, availability, sources, calibration, shown))
    scoring = Scoring(paths, protocols, rows)
    cards, retrieval = Cards(paths, rows, scoring, data), Retrieval(paths, models, protocols, world, rows, calibration)
    papers = tuple(config.papers)
    tables, figures = Tables(paths, models, protocols, rows, papers), Figures(paths, protocols, rows, papers)
    today = make_today(rows, world)
    return Plan(
        settings=settings,
        paths=paths,
        models=models,
        data=data,
        protocols=protocols,
        mining=mining,
        world=world,
        corpora=corpora,
        pretraining=pretraining,
        text_sizes=TextSizes(mining, corpora, pretraining),
        transfer=transfer,
        finetuning=finetuning,
        availability=availability,
        sources=sources,
        calibration=calibration,
        rows=rows,
        retrieval=retrieval,
        scoring=scoring,
        cards=cards,
        adaptation=AdaptationParts(paths, models, mining, pretraining, rows, cards, retrieval),
        tables=tables,
        figures=figures,
        today=today,
        requested=RequestedOutputs(availability, sources, rows, tables, figures, today),
    )
