"""The parts of a value in words, as ``Decomposition.verdict`` says them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasamp.results.interval import figure_with_interval

from .why_parts import AMPLIFIES, REDUCES, UNKNOWN, UNTOLD

if TYPE_CHECKING:
    from .why_result import Decomposition

_VERB = {AMPLIFIES: "amplifies", REDUCES: "reduces"}
_SAID = {
    AMPLIFIES: "which amplifies",
    REDUCES: "which reduces",
    UNKNOWN: "no verdict, as signs are not clear",
    UNTOLD: "which cannot be told from 0",
}


def sentences(result: Decomposition) -> list[str]:
    """What the parts are and may be called, a sentence each."""

    def shown(of: str) -> str:
        made = result.interval_maker(of)
        low, high = (None, None) if made is None else result.quiet_interval(of=of)
        return figure_with_interval(getattr(result, of), low, high)

    told = result.verdicts
    lead = _VERB.get(told["value"])
    said = [f"The decisions ({result.rule}): {shown('value')}" + (f", {lead}." if lead else ".")]
    for of, name in (("score", "The scores"), ("threshold", "Deciding on them")):
        if of in result.shown:
            said.append(f"{name}: {shown(of)}, {_SAID[told[of]]}.")
    if result.unknown:
        said.append(f"The records do not tell the direction of {result.unknown:,} of {result.defined:,} pairs.")
    if result.strata is not None:
        said.append(
            f"Inside strata, by the signs there and each group's own shares: {shown('inside')}, {_SAID[told['inside']]}."
        )
    if result.orders is not None:
        said.append(
            f"Against the base, which is taken as known, the rates inside strata are {shown('within')} and their mix "
            f"{shown('mix')}."
        )
    return said
