"""What Aka et al. (2021) print of Open Images: counts of top labels, and the labels that lean most to women."""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[str, str]

# Tables 1 and 7: least and largest C(y), C(man,y) and C(woman,y) of the 100 labels with the largest gaps.
TABLE_7: Mapping[str, tuple[Pair, Pair, Pair]] = {
    "pmi": (("15", "10551"), ("1", "1059"), ("8", "7755")),
    "pmi2": (("15", "10551"), ("1", "1059"), ("8", "7755")),
    "llr": (("15", "10551"), ("1", "1059"), ("8", "7755")),
    "dp": (("6104", "785045"), ("628", "239950"), ("5347", "197795")),
    "ji": (("4158", "562445"), ("399", "144185"), ("3359", "183132")),
    "sdc": (("2906", "562445"), ("139", "144185"), ("2563", "183132")),
    "npmi_y": (("35", "562445"), ("1", "144185"), ("9", "183132")),
    "npmi_xy": (("34", "270748"), ("1", "144185"), ("20", "183132")),
    "tau_b": (("6104", "785045"), ("628", "207723"), ("5347", "183132")),
    "t_test": (("960", "562445"), ("72", "144185"), ("870", "183132")),
}
# Table 6: mean and standard deviation of the same counts.
TABLE_6: Mapping[str, tuple[Pair, Pair, Pair]] = {
    "dp": (("154960.81", "147823.81"), ("71552.62", "67400.44"), ("70398.07", "56824.32")),
    "ji": (("70403.46", "86766.14"), ("29670.94", "35381.09"), ("35723.13", "39308.46")),
    "llr": (("1020.60", "1971.77"), ("57.95", "178.59"), ("558.36", "1420.15")),
    "npmi_xy": (("13869.42", "46244.17"), ("5771.73", "23564.63"), ("9664.46", "31475.19")),
    "npmi_y": (("23156.11", "73662.90"), ("6632.79", "25631.26"), ("10376.39", "33559.27")),
    "pmi": (("1020.60", "1971.77"), ("57.95", "178.59"), ("558.36", "1420.15")),
    "pmi2": (("1020.60", "1971.77"), ("57.95", "178.59"), ("558.36", "1420.15")),
    "sdc": (("67648.20", "87258.41"), ("28193.83", "35295.25"), ("34443.22", "39501.21")),
    "tau_b": (("134076.65", "144354.70"), ("53845.80", "58016.12"), ("56032.09", "52124.92")),
}
# Table 5: mean and standard deviation of C(y) and C(man,y) of the "top 100" by the association with man itself.
TABLE_5: Mapping[str, tuple[Pair, Pair]] = {
    "dp": (("101.38", "199.32"), ("1.00", "0.00")),
    "npmi_xy": (("24371.15", "27597.10"), ("237.92", "604.29")),
    "npmi_y": (("75160.45", "119779.13"), ("5680.44", "17193.19")),
    "pmi": (("1875.86", "3344.23"), ("2.43", "4.72")),
    "pmi2": (("831.43", "620.02"), ("1.09", "0.32")),
    "sdc": (("676.33", "412.23"), ("1.00", "0.00")),
    "tau_b": (("189294.69", "149505.10"), ("24524.89", "32673.77")),
}
# Tables 3 and 14: the labels that lean most to women with their counts, without those whose names are not printed.
TABLE_3: Mapping[str, Mapping[str, int]] = {
    "dp": {
        "Beauty": 562445,
        "Long Hair": 56832,
        "Happiness": 117562,
        "Hairstyle": 145151,
        "Smile": 144694,
        "Fashion": 238100,
        "Fashion Designer": 101854,
        "Iris": 120411,
        "Skin": 202360,
        "Textile": 231628,
        "Adolescence": 221940,
    },
    "pmi": {
        "Dido Flip": 140,
        "Webcam Model": 184,
        "Boho-chic": 151,
        "Treggings": 126,
        "Mascara": 539,
        "Lace Wig": 70,
        "Eyelash Extension": 1167,
        "Bohemian Style": 460,
        "Gravure Idole": 200,
        "Eye Shadow": 1235,
    },
    "npmi_xy": {
        "Dido Flip": 140,
        "Eye Liner": 3144,
        "Long Hair": 56832,
        "Mascara": 539,
        "Lipstick": 8688,
        "Step Cutting": 6104,
        "Model": 10551,
        "Eye Shadow": 1235,
        "Photo Shoot": 8775,
        "Eyelash Extension": 1167,
        "Boho-chic": 460,
        "Webcam Model": 151,
        "Bohemian Style": 184,
    },
}


def counted_twice() -> dict[str, tuple[int, ...]]:
    """Labels to which Table 3 gives different counts in different columns.

    >>> counted_twice()["Boho-chic"]
    (151, 460)
    """
    counts: dict[str, list[int]] = {}
    for column in TABLE_3.values():
        for label, count in column.items():
            counts.setdefault(label, []).append(count)
    return {label: tuple(found) for label, found in counts.items() if len(set(found)) > 1}
