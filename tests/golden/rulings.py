"""Why a golden may change: every difference from what is expected belongs to a named ruling, or the golden stays.

A ruling names the places of a document that it may change. Places read ``.metrics[fpr_difference].interval``: items of lists are
called by their metric where they have one, else ``[]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ruling:
    """What was decided, the cases it concerns, and the places that follow from it."""

    name: str
    places: str
    cases: str = ""

    def explains(self, case: str, place: str) -> bool:
        return bool(re.search(self.places, place)) and bool(re.search(self.cases, case))


_COUNTED = r"\[(directional|multi|mals)\]"
_SURE = "interval|crossfit_interval|interval_method|standard_error|cautions"
_PARITY = r"\[(\w+_difference|mean_per_class_accuracy)\]"

# The first that explains a difference is counted.
RULINGS = [
    Ruling(
        "Selected maxima: a difference names the groups that have too few records in some outcomes",
        rf"{_PARITY}\.(cautions|caution_kinds|left_out|left_out_outcomes)|findings$|\.cautions$",
        r"^(audit_|counted|compare$|saved_counts_labels$|coco_captions)",
    ),
    Ruling(
        "Inside strata a group counts by its own shares, and with them signs that are not told: no verdict on the demo",
        r"^\.audit\.checksum\.findings$",
        r"^demo$",
    ),
    Ruling(
        "True sentences: verdicts judged together, pairs named by q, words that say what is compared", r"\.findings"
    ),
    Ruling(
        "True sentences: a value that is as good as 0 is said to be, and the answer with it",
        r"^\.page\.(answer\.|cautions\.topics$)",
        r"^compare$",
    ),
    Ruling(
        "No error seen is not certainty: a model that is never wrong has intervals of what attackers measure",
        r"^\.from data\.noted$",
        r"^compare$",
    ),
    Ruling(
        "True sentences: cautions of a document name no attribute of Python",
        r"\.checksum\.metrics\[\]$",
        r"^commands_of_audits$",
    ),
    Ruling("Changes between two association runs", r"^\.change( of dp)?\[\]\.(low|high|p|q)", r"^association_tables$"),
    Ruling(
        "Two-valued outcomes: rates are those of the positive value; differences as everywhere know they were selected",
        rf"{_PARITY}\.|\.excluded$",
        r"^(audit_soft_one|audit_binary_and_flat|demo|compas_\w+)$",
    ),
    Ruling(
        "Selected maxima: intervals know of the selection, groups below min_group do not decide",
        rf"{_PARITY}\.|^\.of data\.verdict\.checks\[\]\.(low|high)",
    ),
    Ruling(
        "Pairs named are corrected: exact McNemar p, q over all pairs of the audit",
        r"pairs(\.first|\.last)?\[\]\.[pq]$|pairs\.sums\.\.[pq]\.",
    ),
    Ruling("An undefined gain is undefined", r"\[dpa\]\.(dataset_)?gain$", r"^(demo|compas_all_metrics)$"),
    Ruling("Trials: as many as the function, drawn another way", r"\[(leakage|dpa)\]\.", r"^(audit_soft_one|compare)$"),
    Ruling("Trials: as many as the function, drawn another way", r"^\.(leakage|dpa soft)", r"^predictability$"),
    Ruling("Sizes of sets apply to both sides or say why not", r"^\.sizes\.cautions", r"^multi$"),
    Ruling("No error seen is not certainty: aggregates are widened as pairs are", rf"{_COUNTED}\.({_SURE})"),
    Ruling(
        "No error seen is not certainty: aggregates are widened as pairs are",
        rf"\.({_SURE}|method|low|high)(\[\])?$",
        r"^(directional|multi|mals|thresholds)(_clustered)?$|^coco_captions_multi$",
    ),
    Ruling(
        "No error seen is not certainty: nor is a model that never differs from its baseline",
        r"^\.baseline old\.",
        r"^check$",
    ),
    Ruling(
        "No error seen is not certainty: a cluster that errs may err as a whole",
        r"pairs\[\]\.(low|high)$",
        r"^(audit_clustered|saved_counts_train_clusters)$",
    ),
    Ruling(
        "No error seen is not certainty: records in which two models differ, and that were not seen, count",
        rf"differences{_COUNTED}\.(low|high|method)$",
        r"^compare$",
    ),
    Ruling(
        "No error seen is not certainty: a figure that no resample moves has no interval",
        r"\[(leakage|dpa)\]\.(interval|cautions)|^\.from data\.(differences|notes)$",
        r"^(compas_all_metrics|compare)$",
    ),
    Ruling("A comparison has a page of its own", r"^\.page\.", r"^compare$"),
    Ruling("The range of MALS where groups overlap", r"^\.page\.methods\[\]\.(low|high)$", r"^compare$"),
    Ruling(
        "The demo's models are fitted to the end, and scores have ten digits, which every processor gives alike",
        r"^\.audit\.(checksum\.|(sweep|why)\[\])",
        r"^demo$",
    ),
    Ruling("The demo tells why: its records have scores and strata", r"^\.audit\.data\.fingerprint$", r"^demo$"),
    Ruling(
        "Verdicts and pages of a saved audit whose data had no name are called by its file",
        r"^(\.page)?\.source$|\.verdict\.data$",
        r"^(compare|saved_audit|saved_policy)$",
    ),
    Ruling(
        "Paired trials: leakage and DPA of two models are measured on the same halves of the records, DPA task by task",
        r"^\.from data\.(differences|notes|noted|pairs)$|differences\[(dpa|leakage)\]\.",
        r"^compare$",
    ),
    Ruling("A comparison has a page of its own, not that of its last model", r"^\.page(\.|$)", r"^compare$"),
    Ruling(
        "Answer first: who is worst off stands in a sentence of its own, and all that is decided is counted",
        r"^(\.report|\.page)?\.answer(\.|$)",
    ),
    Ruling(
        "Intervals that know what they are of: a base of records or counts is a sample, whose error is in intervals and p-values",
        r"^\.metrics\[directional\]\.(interval|bounds|clear_interval|pairs\[\]\.(low|high|p|q)|standard_error)",
        r"^audit_base_(records|table)$",
    ),
    Ruling(
        "Unknown signs bound, they do not cancel: directions of a base are known as well as its records or counts tell them",
        r"^\.metrics\[directional\]\.(clear|unknown|cautions|caution_kinds|pairs\[\]\.(known|sign_p|clear))|^\.findings",
        r"^audit_base_(records|table)$",
    ),
    Ruling("Each fact is judged once", r"^\.init\.verdict\.checks$", r"^check$"),
    Ruling(
        "Not enough evidence says how many records would decide with a chance of 80%",
        r"\.verdict\.checks\[\w*\]\.(finding|records_needed)$|\.differences\[\w*\]\.more_records$",
        r"^(check|saved_policy|compare)$",
    ),
    Ruling(
        "A gate that cannot pass by accident: a verdict tells bounds from intervals, pairs from the aggregate, and has the cautions of what is judged",
        r"\.verdict\.checks\[\w*\]\.(finding|cautions|line)$|\.junit\[\]\.attributes\.name$",
        r"^(check|saved_policy)$",
    ),
]


def place_of(path: str, *documents: Any) -> str:
    """A path of the comparison with items of lists called by their metric."""
    for document in documents:
        held, out = document, ""
        try:
            for step in re.findall(r"\[\d+\]|\.[^.\[]*", path):
                if step.startswith("["):
                    held = held[int(step[1:-1])]
                    metric = held.get("metric") if isinstance(held, dict) else None
                    out += f"[{metric}]" if isinstance(metric, str) else "[]"
                else:
                    held, out = held[step[1:]], out + step
        except (KeyError, IndexError, TypeError):
            continue
        return out
    return re.sub(r"\[\d+\]", "[]", path)


def explained(case: str, places: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """How many differences each ruling explains, and the places that none does."""
    counted: dict[str, int] = {}
    rest = []
    for place in places:
        name = next((ruling.name for ruling in RULINGS if ruling.explains(case, place)), None)
        if name is None:
            rest.append(place)
        else:
            counted[name] = counted.get(name, 0) + 1
    return counted, rest
