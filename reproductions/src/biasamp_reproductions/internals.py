"""All that is taken from inside ``biasamp``: where its public functions do not suffice, and why.

Every other module of this package takes ``import biasamp`` or names from here.

On their way to being public
    ``exactly_balanced``, ``within_ratio``, ``with_majority``: sets in which tasks go with genders at a given ratio.
    ``SYNONYMS``, ``Objects``, ``gender``, ``neutral``, ``plural``: what captions name, by lists of words.
    ``Blank``, ``HE``, ``SHE``, ``TWO``, ``PRONOUNS``, ``VERBS``, ``ADJECTIVES``, ``TEMPLATES``, ``Occupation``,
    ``occupation_blanks``, ``fill_in``, ``FilledIn``, ``Source``, ``amplification``: sentences with a blank, what a model
    puts there and how that amplifies. ``MaskedModel``, ``load_masked_model``: a masked language model that is asked.

Figures that public functions do not give
    ``association_gap``: public :func:`biasamp.associate` reads records; the reproductions need gaps of shares, which
    are no whole counts (derivatives by small steps), and of thousands of reweighted tables at once.
    ``best_score``: public :func:`biasamp.leakage` draws its own halves; Wang et al. (2019) learn on one set of images
    and score on another.
    ``no_input``, ``normalized_difference``: public :func:`biasamp.dpa` takes records and their own accuracy; a paper
    prints margins, and an accuracy beside them.
    ``PairCounts``, ``JointCounts``, ``association_signs``, ``directional_pairs``, ``mean_over_pairs``, ``multi_value``,
    and those of DPA: a heatmap has 10,201 cells, which public functions would measure one by one.

What commands share
    ``console``, ``write_json``: a terminal and JSON as all commands of ``biasamp`` have them.
    ``one_bar``: experiments show one bar of progress, not those of the functions that they call as well.
    ``plain``: values that JSON can hold, spelled as in all documents of ``biasamp``.
    ``printable``: text from strangers in one line that can only be read.
    ``save_text``: files are written whole or not at all.
"""

from biasamp.amplification.balance import exactly_balanced, with_majority, within_ratio
from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.multi import multi_value
from biasamp.amplification.pair_table import mean_over_pairs
from biasamp.amplification.signs import association_signs
from biasamp.association.gaps import association_gap
from biasamp.cli.output import console, write_json
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import printable
from biasamp.data.saving import save_text
from biasamp.engines.progress import one_bar
from biasamp.predictability.lookup import best_score, no_input
from biasamp.predictability.scores import normalized_difference
from biasamp.results.interval import plain
from biasamp.text.blanks import (
    ADJECTIVES,
    HE,
    PRONOUNS,
    SHE,
    TEMPLATES,
    TWO,
    VERBS,
    Blank,
    FilledIn,
    Occupation,
    Source,
    amplification,
    fill_in,
    occupation_blanks,
)
from biasamp.text.language_models import MaskedModel, load_masked_model
from biasamp.text.plurals import plural
from biasamp.text.word_lists import SYNONYMS, Objects, gender, neutral

__all__ = [
    "ADJECTIVES",
    "HE",
    "PRONOUNS",
    "SHE",
    "SYNONYMS",
    "TEMPLATES",
    "TWO",
    "VERBS",
    "Blank",
    "FilledIn",
    "JointCounts",
    "MaskedModel",
    "Objects",
    "Occupation",
    "PairCounts",
    "Source",
    "amplification",
    "association_gap",
    "association_signs",
    "best_score",
    "console",
    "directional_pairs",
    "exactly_balanced",
    "fill_in",
    "gender",
    "load_masked_model",
    "mean_over_pairs",
    "multi_value",
    "neutral",
    "no_input",
    "normalized_difference",
    "occupation_blanks",
    "one_bar",
    "plain",
    "plural",
    "printable",
    "save_text",
    "with_majority",
    "within_ratio",
    "write_json",
]
