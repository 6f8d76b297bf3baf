"""What the audit in the browser takes from the Python package: facts of metrics, words, patterns and constants.

``make schema`` writes them; the TypeScript of ``web/src/try`` reads them, so that none stands in two places.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.amplification import bounds, pair_table, positive
from biasamp.auditing import (
    amplification_findings,
    caution_topics,
    cautions,
    column_cautions,
    evidence,
    findings,
    measuring,
    next_steps,
    parity_entries,
    score_cautions,
    skill_cautions,
    unseen_labels,
)
from biasamp.auditing.measurement_types import SCHEMA
from biasamp.data.ways_out import advice_on_the_page
from biasamp.report import matrix, rates_view
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS, audited_names

FACTS_FILE = Path(__file__).parents[1] / "web" / "src" / "try" / "facts.json"
_WEIGHTS = ("AGGREGATE", "DECIDED_AGGREGATE", "PAIRS", "OPPOSITE_PAIRS", "INVENTED", "ERROR_RATES", "CAUTION")


def facts() -> dict[str, Any]:
    """The facts as they have to be committed."""
    return {
        "version": __version__,
        "schema": SCHEMA,
        "metrics": {
            name: {"facts": METRICS[name].facts(), "judged": METRICS[name].judged, "gap": METRICS[name].gap}
            | {"rank": matrix._rank(name)}
            for name in audited_names()
        },
        "methods": {
            name: {
                key: list(value) if isinstance(value, tuple) else plain(value) for key, value in asdict(metric).items()
            }
            for name, metric in METRICS.items()
            if name in ("directional", "parity")
        },
        "weights": {name.lower(): getattr(findings, name) for name in _WEIGHTS},
        "urgency": findings.URGENCY,
        "topics": {topic: sorted(codes) for topic, codes in caution_topics.TOPICS.items()},
        "other_topic": caution_topics._OTHER,
        "mistakes": sorted(caution_topics.MISTAKES),
        "first_cautions": caution_topics._FIRST,
        "rate_titles": rates_view.RATE_TITLES,
        "rates_meaning": rates_view._MEANING,
        "patterns": {
            "identity": cautions._IDENTITY.pattern,
            "future": cautions._FUTURE.pattern,
            "predicted": column_cautions._PREDICTED.pattern,
            "scored": column_cautions._SCORED.pattern,
            "true": column_cautions._TRUE.pattern,
            "number": cautions._NUMBER.pattern,
        },
        "identity_values": sorted(cautions._IDENTITY_VALUES),
        "identity_letters": [sorted(letters) for letters in cautions._IDENTITY_LETTERS],
        "advice": advice_on_the_page(),
        "evident": positive._EVIDENT,
        "yes": sorted(positive._YES),
        "constants": {
            "clear_of_all": bounds.CLEAR_OF_ALL,
            "many_numbers": cautions._MANY_NUMBERS,
            "alike": unseen_labels._ALIKE,
            "looked_at": unseen_labels._LOOKED_AT,
            "reach": bounds.REACH,
            "errors_more": bounds.ERRORS_MORE,
            "clear_sign": pair_table.CLEAR_SIGN,
            "as_good_as_0": evidence.AS_GOOD_AS_0,
            "false_discoveries": evidence.FALSE_DISCOVERIES,
            "clear_difference": findings.CLEAR_DIFFERENCE,
            "most_pairs": measuring.MOST_PAIRS,
            "most_rates": parity_entries.MOST_RATES,
            "pairs_shown": amplification_findings._PAIRS_SHOWN,
            "hides": amplification_findings._HIDES,
            "off": score_cautions._OFF,
            "rate_share": score_cautions._RATE_SHARE,
            "opposite": skill_cautions._OPPOSITE,
            "sure": skill_cautions._SURE,
            "better": skill_cautions._BETTER,
            "least": skill_cautions._LEAST,
            "hardly": skill_cautions._HARDLY,
            "least_either": skill_cautions._LEAST_EITHER,
            "better_column": skill_cautions._BETTER_COLUMN,
            "far_below": skill_cautions._FAR_BELOW,
            "most_times": next_steps._MOST_TIMES,
            "moves_one_side": next_steps._ONE_SIDED,
            "moves_either_side": next_steps._TWO_SIDED,
            "no_chance": column_cautions._NO_CHANCE,
        },
    }


def facts_text() -> str:
    """The text of the committed file."""
    return json.dumps(facts(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FACTS_FILE.write_text(facts_text(), encoding="utf-8")
