"""Explanations of words that a page's reader may not know: on hover, on focus, and for screen readers."""

import re

from stele import catalogue
from stele.artifacts.records import DIVERGED, GENERATED, STAND_IN
from stele.tables.render.html import escape

TERMS = {
    GENERATED: "texts, questions and answers that a program wrote in synthetic languages",
    STAND_IN: "a tiny encoder that was trained here on generated text, in place of the public checkpoint of that name",
    DIVERGED: "the loss rose above chance, or all texts got the same vector: the model learnt nothing",
    "ILK": "KEPT's pairs within a language: a sentence that links to a page, and the passage there that links back",
    "CLK": "KEPT's pairs across languages: first passages of the pages that two languages have for one entity",
    "CROP": "pairs of two pieces of one document: random crops of one chunk (KEPT), or units near each other (MSM)",
}
METRICS = {  # by name, "_kt" of a cut in thousands of tokens; {} is the cut
    "mrr": "one over the rank of a query's first relevant passage, 0 beyond rank {}; the mean over queries",
    "recall": "the share of a query's relevant passages that are among the first {}",
    "map": "summed precision at each relevant passage in the first {0}, over the number of relevant ones (at most {0})",
    "ap": "summed precision at each relevant passage in the first {}, over the number of all relevant ones",
    "ndcg": "relevance of the first {} passages, discounted by rank, as a share of that of the best order",
    "r": "the share of questions with an answer in the first {} passages",
    "r_kt": "the share of questions with an answer in the first {},000 tokens of the passages found",
    "r_tokenized_kt": "as R@{0}kt, but an answer that is cut into tokens counts as well",
}
_TERM = re.compile(
    r"<code>.*?</code>|<[^<>]*>"  # unchanged: text to copy, and attributes
    rf"|(?<!\w)(?:{'|'.join(map(re.escape, TERMS))})(?!\w)"
    r"|(?<=<dt>setting</dt><dd>)(?P<setting>[\w.]+)"
    r"|\b(?P<metric>(?i:mrr|recall|map|ap|ndcg|r_tokenized)|r(?=@)|R(?=@\d+[kK]))@(?P<cut>\d+)(?P<kt>[kK]t?)?(?!\w)"
    r"|scale (?P<scale>[\w-]+)|pt(?P<pt>\d+)-ft(?P<ft>\d+)(?:[./]\w[\w./]*\w)?"  # with the rest of a path
)


def explained(html: str) -> str:
    """Marks the known terms in HTML, so that they show their explanations on hover and focus."""
    return _TERM.sub(_explained, html)


def _explained(match: re.Match[str]) -> str:
    meaning = _meaning(match)
    if not meaning:
        return match[0]
    tip = f'<span class="tip"> {escape(meaning[0].upper() + meaning[1:])}</span>'
    return f'<span class="term" tabindex="0">{match[0]}{tip}</span>'


def _meaning(match: re.Match[str]) -> str:
    """Explanation of a term; "" for a scale or a setting that the catalogue does not have."""
    if match["pt"]:
        return f"seed {match['pt']} of pretraining, seed {match['ft']} of fine-tuning"
    if match["scale"]:
        known = match["scale"] in catalogue.scale_names()
        return catalogue.load(f"scales/{match['scale']}")["title"] if known else ""
    if match["setting"]:
        return _setting(match["setting"])
    if match["metric"]:
        return METRICS.get(match["metric"].lower() + ("_kt" if match["kt"] else ""), "").format(match["cut"])
    return TERMS.get(match[0], "")


def _setting(name: str) -> str:
    """Explanation of a setting: its use of an encoder, on all benchmarks that have it; "" if it uses no encoder."""
    entries = [settings[name] for settings in catalogue.load("settings")["settings"].values() if name in settings]
    dense, recipes = [entry for entry in entries if entry["kind"] == "dense"], catalogue.load("recipes")["finetuning"]
    names = {entry["recipe"].partition("-")[0] for entry in dense if "recipe" in entry}
    learnt_from = sorted({recipes[name]["training_set"] for name in names})
    if learnt_from:
        return f"an encoder that was fine-tuned on {' or '.join(learnt_from)}"
    return "an encoder as it is, without fine-tuning" if dense else ""
