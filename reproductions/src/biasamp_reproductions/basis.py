"""What a row was measured on, and the one list of verdicts that rows can have."""

from __future__ import annotations

REAL = "Real files"
PRINTED = "The paper's own numbers"
DEFINED = "The paper's definitions"
ARITHMETIC = "The paper's arithmetic"
STAND_IN = "Stand-in"
OWN = "Your own files"
# In the order of pages. Only the first is evidence about the data that a paper speaks of.
BASES = (REAL, PRINTED, DEFINED, ARITHMETIC, STAND_IN, OWN)
IN_WORDS = {
    REAL: "files of the data that the paper speaks of",
    PRINTED: "counts and tables that the paper prints or defines, put through this software; no real files",
    DEFINED: "formulas, metrics or a simulation that the paper defines, at values or on small tables that we chose; no real files",
    ARITHMETIC: "figures of the paper held against other figures of the same paper; nothing is measured",
    STAND_IN: "made-up data: a trend can show there or not, the paper's numbers cannot come out",
    OWN: "files of yours, of which the paper says nothing",
}

SAME, HOLDS, SEEN, FOLLOWS = "same digits", "holds", "seen", "follows"
REACHED, WITHIN, MOVED = "by another run", "within ±", "moved"
LEFT_OPEN, OUT_OF_REACH, NO_REASON = "left open", "out of reach", "no reason"
FAILS, NOT_SEEN, FOLLOWS_NOT = "does not hold", "not seen", "does not follow"
BACK, NOT_BACK = "as planted", "not as planted"
BESIDE, OURS = "no verdict", "ours alone"
AGREE = (SAME, HOLDS, SEEN, FOLLOWS)
DIFFER = (REACHED, WITHIN, MOVED, LEFT_OPEN, OUT_OF_REACH, FOLLOWS_NOT, FAILS, NOT_SEEN, NO_REASON)
# All verdicts on what is published, each with what it says.
VERDICTS = {
    SAME: "a figure: ours rounds to it, digit for digit as printed",
    HOLDS: "a claim in words: its test, which the row shows, is passed",
    SEEN: "a claim in words: its test is passed on a stand-in, which is not the paper's data",
    FOLLOWS: "a figure or claim: other figures of the same paper give it",
    REACHED: "a figure: ours differs, another run gives it digit for digit",
    WITHIN: "a figure: ours, or another run's, lies within the ± that the paper prints; it is not the figure",
    MOVED: "a figure: ours differs, and another run moves it without reaching the published one",
    LEFT_OPEN: "a figure: ours differs; runs over settings that the paper omits lie on both sides of it",
    OUT_OF_REACH: "a figure: given by no run tried, or by none together with what is printed beside it",
    FOLLOWS_NOT: "a figure or claim: other figures of the same paper give something else",
    FAILS: "a claim in words: its test is not passed",
    NOT_SEEN: "a claim in words: its test is not passed on a stand-in, which is not the paper's data",
    NO_REASON: "a figure: ours differs, and nothing is known of why",
}
# What rows without a verdict on anything published are.
OTHERS = {
    BACK: "a value that was planted in a stand-in comes back",
    NOT_BACK: "a value that was planted in a stand-in does not come back",
    BESIDE: "published of other data, or in words for which no threshold is stated: stands beside ours without a verdict",
    OURS: "the paper prints nothing to hold ours against",
}

# What a figure on real files was taken from, where "reached" alone would say too much.
COUNTED, LABELLED = "counted in the input file", "counted in labelled images"
FIXED, TRAINED = "that are 0 for any model", "of models trained here"
RELEASED = "from released ratios of the 2017 model, no model trained here"
