"""32 occupations of WinoBias: the share of women and the number employed in the United States in 2016.

The figures are public facts: the occupations, the share of women and the direction are those of WinoBias (Zhao et
al., 2018), the numbers employed those of the Bureau of Labor Statistics for 2016 ("Employed persons by detailed
occupation, sex, race, and Hispanic or Latino ethnicity"), as Wang & Russakovsky (2021, App. A.3) put them together.
WinoBias has 40 occupations; eight could not be found among those of the Bureau. Some occupations share a line of
the Bureau's table (accountant and auditor, cleaner and housekeeper, laborer and constructor).
"""

from __future__ import annotations

import csv
from importlib.resources import files

from .internals import HE, SHE, Occupation

FILE = "occupations_us_2016.csv"


def occupations() -> tuple[Occupation, ...]:
    """The 32 occupations.

    >>> found = {occupation.name: occupation for occupation in occupations()}
    >>> len(found), found["nurse"].women, found["nurse"].toward
    (32, 0.9, 'women')
    """
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return tuple(
        Occupation(
            row["occupation"], float(row["percent_women"]) / 100, float(row["employed_thousands"]), row["biased_toward"]
        )
        for row in csv.DictReader(text.splitlines())
    )


def labour_table(chosen: tuple[Occupation, ...]) -> dict[str, dict[str, float]]:
    """Thousands of men and women in each occupation, men as "he" and women as "she"."""
    return {
        occupation.name: {
            HE: occupation.employed * (1 - occupation.women),
            SHE: occupation.employed * occupation.women,
        }
        for occupation in chosen
    }
