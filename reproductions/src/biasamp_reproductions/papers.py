"""The papers, and what each prints that could be run again: so that what was not tried can be named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Paper:
    """A paper and what it prints.

    Attributes
    ----------
    name : str
    items : tuple of str
        Its tables, figures and sections with figures or claims, in order.
    more : mapping of (str, str) to int
        Printed figures that are told of together where no row has them: the item, what their names begin with, and how many there are.
    """

    name: str
    items: tuple[str, ...]
    more: Mapping[tuple[str, str], int] = field(default_factory=dict)


DIRECTIONAL, DPA, AIES, LEAKAGE, LLM = "2021", "DPA", "AIES", "2019", "LLM"
# Of what takes COCO's objects, Wikipedia's text, and the predictions of the 2017 model image by image.
OBJECTS_ONE_BY_ONE, WIKIPEDIA, KEYBOARD = "its 66 objects one by one", "base Wikipedia (2)", "keyboard by direction"
PAPERS = {
    DIRECTIONAL: Paper(
        "Wang & Russakovsky (2021), Directional Bias Amplification",
        (
            "Sec. 3.2",
            "Sec. 3.3",
            "Sec. 4.1",
            "Fig. 1",
            "Fig. 2",
            "Table 1",
            "Table 3",
            "Fig. 3",
            "Fig. 4",
            "Table 2",
            "Fig. 5",
            "Fig. 6",
        ),
        {("Sec. 3.3", KEYBOARD): 3, ("Table 3", OBJECTS_ONE_BY_ONE): 396, ("Table 2", WIKIPEDIA): 2},
    ),
    DPA: Paper(
        "Tokas et al., Making Bias Amplification in Balanced Datasets Directional and Interpretable",
        (
            "Table 1",
            "Sec. 3.2",
            "Sec. 4.2",
            "Fig. 1",
            "Fig. 2",
            "Table 2",
            "Table 3",
            "Sec. 6.1",
            "Table 4",
            "Fig. 3",
            "Sec. 7.2",
        ),
    ),
    AIES: Paper(
        "Aka et al. (2021), Measuring Model Biases in the Absence of Ground Truth",
        (
            "Tables 1 and 7",
            "Tables 2 and 4",
            "Tables 3 and 14",
            "Table 5",
            "Table 6",
            "Sec. 4.1",
            "Figs. 1 and E.1",
            "Fig. 2",
            "E.2",
        ),
    ),
    LEAKAGE: Paper("Wang et al. (2019), Balanced Datasets Are Not Enough", ()),
    LLM: Paper("released scores of generations of a language model", ()),
}
