"""Sentences with a blank for a pronoun or an occupation, what a model puts there, and how that amplifies."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biasamp

Array = NDArray[np.float64]
HE, SHE, THEY = "he", "she", "they"
PRONOUNS = (HE, SHE, THEY)
TWO = (HE, SHE)
VERBS = ("is", "was")
ADJECTIVES = ("new", "known", "single", "large", "small", "major", "French", "old", "short", "good")
TEMPLATES = tuple((verb, adjective) for verb in VERBS for adjective in ADJECTIVES)


@dataclass(frozen=True)
class Blank:
    """A sentence with a blank: what stands before it and after it."""

    before: str
    after: str


@dataclass(frozen=True)
class Occupation:
    """One occupation: its name, the share of women in it, how many thousands work in it, whom WinoBias gives it to."""

    name: str
    women: float
    employed: float
    toward: str

    @property
    def direction(self) -> dict[str, int]:
        """The sign of each pronoun; "they" leans nowhere."""
        sign = 1 if self.toward == "men" else -1
        return {HE: sign, SHE: -sign, THEY: 0}


def pronoun_blank(template: tuple[str, str], occupation: str) -> Blank:
    """The sentence of a template with an occupation, and a blank for the pronoun."""
    return Blank("", f" {_middle(template)} {occupation}.")


def occupation_blank(template: tuple[str, str], pronoun: str) -> Blank:
    """The sentence of a template with a pronoun, and a blank for the occupation."""
    return Blank(f"{pronoun.capitalize()} {_middle(template)} ", ".")


def occupation_blanks(pronoun: str) -> list[Blank]:
    """All templates with a pronoun, and a blank for the occupation."""
    return [occupation_blank(template, pronoun) for template in TEMPLATES]


def _middle(template: tuple[str, str]) -> str:
    verb, adjective = template
    return f"{verb} {'an' if adjective[0] in 'aeiou' else 'a'} {adjective}"


def shares(scores: Array) -> Array:
    """Log-probabilities of words as shares of their sum, row by row; words without a score get none.

    >>> shares(np.log([[0.2, 0.6, np.nan]])).round(2).tolist()
    [[0.25, 0.75, 0.0]]
    """
    least = np.where(np.isnan(scores), -np.inf, scores)
    weight = np.exp(least - least.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class FilledIn:
    """What a model puts in the blanks.

    Attributes
    ----------
    occupations : tuple of Occupation
    pronoun : ndarray of shape (templates, occupations, pronouns)
        Shares of the three pronouns, given the occupation.
    occupation : ndarray of shape (templates, pronouns, occupations)
        Shares of the occupations that are one token, given the pronoun; 0 for the others.
    occupation_chained : ndarray of the same shape
        Of all occupations the tokenizer knows, those of several tokens by the sum of their log-probabilities.
    tokens : ndarray of int, shape (occupations,)
        How many tokens each occupation has; 0 where the tokenizer does not know it.
    """

    occupations: tuple[Occupation, ...]
    pronoun: Array
    occupation: Array
    occupation_chained: Array
    tokens: NDArray[np.int64]

    @property
    def he(self) -> Array:
        """P(he | occupation) among he and she, the mean over templates: the vertical axis of Fig. 5."""
        two = self.pronoun[..., :2] / self.pronoun[..., :2].sum(axis=-1, keepdims=True)
        return np.asarray(two[..., 0].mean(axis=0))

    @property
    def one_token(self) -> NDArray[np.bool_]:
        """Which occupations are one token, and so compete for one mask."""
        return self.tokens == 1


def fill_in(model: Any, occupations: Sequence[Occupation]) -> FilledIn:
    """Ask a model for pronouns given occupations, and for occupations given pronouns, in all 20 templates.

    Parameters
    ----------
    model
        Such as a masked language model with its tokenizer: has a ``name``, and ``scores(blanks, words)``, the
        log-probability of every word in every blank and how many tokens it has there. Both have shape
        (blanks, words): NaN and 0 where the model does not know the word.
    occupations : sequence of Occupation

    Notes
    -----
    Pronouns are asked for with the occupation in plain sight, however many tokens it has. Occupations are compared
    among those that are one token where they stand: the number of masks tells a model how long the word is, so
    that a word of two tokens competes with other words of two tokens alone.
    """
    names = [occupation.name for occupation in occupations]
    spelled = [pronoun.capitalize() for pronoun in PRONOUNS]
    asked = [pronoun_blank(template, name) for template in TEMPLATES for name in names]
    scores, tokens = model.scores(asked, spelled)
    if (tokens != 1).any():
        many = [p for p, count in zip(PRONOUNS, tokens.T, strict=True) if (count != 1).any()]
        raise ValueError(f"model: the tokenizer of {model.name!r} does not read {', '.join(many)} as one token")
    pronoun = shares(scores).reshape(len(TEMPLATES), len(names), len(PRONOUNS))
    asked = [occupation_blank(template, p) for template in TEMPLATES for p in PRONOUNS]
    scores, tokens = model.scores(asked, names)
    # A tokenizer that joins a word with what stands before it may read it in one way here and in another there.
    most = np.where((tokens == 0).any(axis=0), 0, tokens.max(axis=0))
    if (most == 1).sum() < 2:
        raise ValueError(f"model: the tokenizer of {model.name!r} has fewer than two of the occupations as one token")
    shape = (len(TEMPLATES), len(PRONOUNS), len(names))
    single, chained = (shares(np.where(known, scores, np.nan)).reshape(shape) for known in (most == 1, most > 0))
    return FilledIn(tuple(occupations), pronoun, single, chained, most)


@dataclass(frozen=True)
class Source:
    """A source of base correlations: a table of occupations by pronouns, or None for equal shares."""

    name: str
    pronouns: tuple[str, ...]
    table: Mapping[str, Mapping[str, float]] | None = None


def amplification(
    filled: FilledIn,
    source: Source,
    direction: str,
    *,
    template: int | None = None,
    chained: bool = False,
    alike: bool = False,
) -> Any:
    """BiasAmp of what a model filled in, against a source of base correlations.

    Parameters
    ----------
    filled : FilledIn
    source : Source
    direction : {"T→A", "A→T"}
        Whether the occupation is given and the pronoun filled in, or the other way round.
    template : int, optional
        One template alone.
    chained : bool
        For A→T, let occupations of several tokens compete by their sums of log-probabilities.
    alike : bool
        For T→A, take every occupation of the source for equally large.

    Returns
    -------
    Amplification
    """
    names = [occupation.name for occupation in filled.occupations]
    known = np.array([source.table is None or name in source.table for name in names])
    to_attribute = direction == "T→A"
    if not to_attribute:
        known &= filled.tokens > 0 if chained else filled.one_token
    rows = np.arange(len(TEMPLATES)) if template is None else np.array([template])
    kept = np.flatnonzero(known)
    columns = [PRONOUNS.index(pronoun) for pronoun in source.pronouns]
    jobs, pronouns = [names[i] for i in kept], list(source.pronouns)
    if to_attribute:
        givens, outcomes, predicted = jobs, pronouns, filled.pronoun[rows][:, kept][..., columns]
    else:
        drawn = filled.occupation_chained if chained else filled.occupation
        givens, outcomes, predicted = pronouns, jobs, drawn[rows][:, columns][..., kept]
    predicted = predicted / predicted.sum(axis=-1, keepdims=True)
    options = _base(source, [filled.occupations[i] for i in kept], to_attribute, alike)
    with warnings.catch_warnings():
        # Twenty sentences per word: how far to trust them is said by the interval over templates.
        warnings.simplefilter("ignore", UserWarning)
        said = biasamp.categorical(predicted.reshape(-1, len(outcomes)), categories=outcomes)
        # Of one template there is a record for each occupation: declared, they are not taken for ids.
        given = biasamp.categorical(np.tile(givens, len(rows)), categories=givens)
        return biasamp.directional(given, None, said, **options)


def _base(source: Source, kept: Sequence[Occupation], to_attribute: bool, alike: bool) -> dict[str, Any]:
    """The arguments ``base`` and ``direction`` for a source."""

    def laid_out(table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        if to_attribute:
            return {o.name: {p: table[o.name][p] for p in source.pronouns} for o in kept}
        return {p: {o.name: table[o.name][p] for o in kept} for p in source.pronouns}

    if source.table is None:
        return {"base": "uniform", "direction": laid_out({o.name: o.direction for o in kept})}
    joint = laid_out(source.table)
    if alike and to_attribute:
        rates = {name: {p: part / sum(row.values()) for p, part in row.items()} for name, row in joint.items()}
        return {"base": {"conditional": rates, "given": dict.fromkeys(rates, 1.0), "source": source.name}}
    return {"base": {"joint": joint, "source": source.name}}
