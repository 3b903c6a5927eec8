"""The plan: paths, inputs and params of every job, from the configuration and the catalogue. It builds nothing itself.

It has one part per stage, which the rules of the workflow call; each part uses only the parts made before it.
"""

from collections.abc import Mapping

from stele.config.model import Config
from stele.papers.paper import TODAY
from stele.plan.adaptation import AdaptationParts
from stele.plan.availability import Availability
from stele.plan.calibration import Calibration
from stele.plan.corpora import Corpora
from stele.plan.data import Data
from stele.plan.figures import Figures
from stele.plan.finetuning import Finetuning
from stele.plan.mining import Mining
from stele.plan.models import Models, World
from stele.plan.paths import Paths
from stele.plan.pretraining import Pretraining
from stele.plan.protocols import Protocols
from stele.plan.requested import RequestedOutputs, RowsOfToday
from stele.plan.retrieval import Retrieval
from stele.plan.rows import Rows
from stele.plan.scoring import Cards, Scoring
from stele.plan.settings import make_settings
from stele.plan.sources import Sources
from stele.plan.stores import Stores
from stele.plan.tables import Tables
from stele.plan.transfer import Transfer


class Plan:
    """The plan of a validated configuration: its parts, each made from those before it."""

    def __init__(self, config: Config) -> None:
        self.settings = settings = make_settings(config)
        self.paths = paths = Paths(settings)
        self.models = models = Models(settings, paths)
        self.data = data = Data(settings, paths)
        self.protocols = protocols = Protocols(data)
        self.world = world = World(settings, paths, models)
        self.corpora = corpora = Corpora(settings, paths, data)
        self.mining = mining = Mining(settings, paths, corpora)
        self.pretraining = pretraining = Pretraining(settings, paths, models, data, mining)
        self.stores = Stores(pretraining)
        self.transfer = transfer = Transfer(paths, data)
        self.finetuning = finetuning = Finetuning(settings, paths, models, data, transfer)
        self.availability = availability = Availability(pretraining, finetuning)
        self.sources = Sources(settings, paths, models, data, world)
        self.calibration = calibration = Calibration(paths, data, protocols, finetuning)
        of_rows = paths, models, data, protocols, world, finetuning, availability, calibration
        self.rows = rows = Rows(*of_rows)
        self.retrieval = Retrieval(rows)
        self.scoring = Scoring(rows)
        self.cards = cards = Cards(rows)
        self.adaptation = AdaptationParts(pretraining, rows, cards)
        self.tables = tables = Tables(rows, tuple(config.papers))
        self.figures = figures = Figures(rows, tuple(config.papers))
        rows_of_today, of_today = RowsOfToday(*of_rows), (TODAY,)
        self.tables_of_today = tables_of_today = Tables(rows_of_today, of_today)
        self.figures_of_today = figures_of_today = Figures(rows_of_today, of_today)
        self.requested = RequestedOutputs(rows, tables, figures, tables_of_today, figures_of_today)

    def dump_mb(self, wildcards: Mapping[str, str]) -> int:
        """Estimated MB of Wikipedia dumps that a job with these wildcards reads; its resources grow with them."""
        part = wildcards["part"]
        if "method" in wildcards:
            return self.corpora.dump_mb(*self.mining.part_codes(wildcards["method"], part))
        shards = self.corpora.shards(part) if "shard" in wildcards else 1
        return self.corpora.dump_mb(part) // shards
