"""Values of groups and outcomes as they are in everyday tables: none is refused, and none is taken for a mistake."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.auditing.caution_topics import MISTAKES

N = 600
GROUPS: list[list[Any]] = [
    ["F", "M"],
    ["Female", "Male", "Non-binary"],
    ["weiblich", "männlich", "divers"],
    ["Femme", "Homme"],
    ["Mujer", "Hombre"],
    [1, 2],
    [0, 1],
    [True, False],
    ["White", "Black", "Asian", "Hispanic", "Native American", "Other"],
    ["Black or African American", "White", "Asian", "Two or more races", "Native Hawaiian/Other Pacific Islander"],
    ["African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American"],
    ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"],
    ["<25", "25-45", ">45"],
    ["Under 25", "25 - 45", "Greater than 45"],
    ["(0, 18]", "(18, 25]", "(25, 65]", "(65, 120]"],
    ["20s", "30s", "40s", "50s"],
    ["NY", "CA", "TX", "FL", "WA", "OR", "NE", "ND", "SD", "NC"],
    ["AL", "AK", "AZ", "AR", "IN", "OR", "ME", "HI", "OK", "ID"],
    ["DE", "FR", "IT", "ES", "NL"],
    ["DEU", "FRA", "ITA", "NAM"],
    ["en", "de", "fr", "no", "is", "it"],
    ["English", "French", "Norwegian (Bokmål)", "中文"],
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    [0, 1, 2, 3, 4, 5, 6],
    ["2023Q1", "2023Q2", "2023Q3", "2023Q4"],
    [2019, 2020, 2021, 2022],
    ["2024-01", "2024-02", "2024-03"],
    ["100", "101", "606", "902"],
    ["10001", "10002", "60601", "90210"],
    ["01001", "02139", "10001"],
    ["SW1A", "EC1A", "N1", "E1"],
    ["USD", "EUR", "GBP", "JPY", "ALL"],
    ["Christian", "Muslim", "No religion", "Prefer not to say"],
    ["Married", "Single", "Divorced", "Widowed", "Never-married"],
    ["HS-grad", "Some-college", "Bachelors", "Masters", "9th", "10th", "1st-4th"],
    ["Yes", "No"],
    ["yes", "no", "prefer not to say"],
    ["Y", "N"],
    ["I", "II", "III", "IV", "V", "VI"],
    [1, 2, 3, 4, 5, 6],
    ["<=50K", ">50K"],
    ["low", "medium", "high"],
    ["$0-$25k", "$25k-$50k", "$50k+"],
    ["0-25%", "25-50%", "50-75%", "75-100%"],
    ["A+", "A-", "B+", "O-"],
    ["XS", "S", "M", "L", "XL"],
    ["Site 1", "Site 2", "Site 10"],
    ["1A", "1B", "2A"],
    ["North", "South", "East", "West"],
    ["North-East", "North-West", "South-East"],
    ["urban", "suburban", "rural"],
    ["São Paulo", "Bogotá", "Lima"],
    ["पुरुष", "महिला"],
    ["ذكر", "أنثى"],
    ["男性", "女性"],
    ["True", "False"],
    ["T", "F"],
    ["F", "M", "Unknown"],
    ["F", "M", "Other"],
    ["F", "M", "U"],
    ["F", "M", "X"],
    ["man", "woman", "nonbinary"],
    ["cis man", "cis woman", "trans man", "trans woman"],
    ["men", "women"],
    ["Mr", "Mrs", "Ms", "Dr"],
    ["full-time", "part-time", "self-employed", "unemployed"],
    [-1, 1],
    [0.0, 1.0, 2.0],
    ["Tier 1", "Tier 2", "Tier 3"],
    ["i", "ii", "iii"],
    ["Gen X", "Gen Z", "Millennial", "Boomer"],
    ["SC", "ST", "OBC", "General"],
    ["Medicare", "Medicaid", "Private", "Self-pay"],
    ["ASA 1", "ASA 2", "ASA 3"],
    ["A00-B99", "C00-D49", "E00-E89"],
    ["iOS", "Android", "Web"],
    ["Chrome 120", "Chrome 121", "Firefox 120"],
    ["morning", "afternoon", "night"],
    ["08:00-12:00", "12:00-16:00", "16:00-20:00"],
    ["LGBTQ+", "Heterosexual"],
    ["0-9", "10-19", "20-29"],
    ["18 to 24", "25 to 34", "35 and over"],
    ["0-17", "18-64", "65 and over"],
    ["#1", "#2"],
    ["1st", "2nd", "3rd"],
    ["Nauru", "Namibia"],
    ["1-9", "10-99", "100+"],
    [97, 98, 99],
    [1, 2, 9],
]
OUTCOMES: list[list[Any]] = [
    ["no", "yes"],
    ["N", "Y"],
    ["fail", "pass"],
    ["denied", "approved"],
    ["negative", "positive"],
    ["negative", "neutral", "positive"],
    [1, 2, 3, 4, 5],
    ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
    ["A", "B", "C", "D", "F"],
    ["A+", "A", "A-", "B+", "B", "B-"],
    ["1 star", "2 stars", "3 stars"],
    ["★", "★★", "★★★"],
    ["E11.9", "I10", "J45.909", "Z00.00"],
    ["250.00", "401.9", "428.0"],
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
    ["nurse", "doctor", "teacher", "engineer", "nurse practitioner"],
    ["surgeon", "dj", "pastor", "rapper", "poet", "model", "yoga_teacher"],
    ["Low", "Medium", "High"],
    [0, 1],
    ["1", "2", "3", "4", "5"],
    [1, 2, 3, 4, 5],
    ["anger", "joy", "sadness", "fear", "disgust", "surprise"],
    ["toxic", "non-toxic"],
    ["ham", "spam"],
    ["hate", "offensive", "neither"],
    ["entailment", "neutral", "contradiction"],
    ["A", "B", "C", "D"],
    ["True", "False"],
    ["True", "False", "Cannot say"],
    ["ans0", "ans1", "ans2"],
    ["bad", "good", "very good"],
    ["cat", "dog"],
    ["n01440764", "n01443537", "n01484850"],
    ["benign", "malignant"],
    ["I", "II", "III", "IV"],
    ["0", "1", "2", "3", "4A", "4B"],
    ["good", "bad"],
    [1, 2],
    [-1, 1],
    ["T", "F"],
    [0.0, 1.0],
    ["1000", "2000", "3000"],
    ["-1", "0", "1"],
    ["en", "no", "de"],
    ["$", "€", "£"],
    ["open", "closed", "n.a. later"],
    ["none", "mild", "moderate", "severe"],
    ["nan bread", "pita"],
    ["known", "unknown"],
    ["accept", "reject", "waitlist"],
    ["Interview", "No interview"],
    ["Admitted", "Rejected"],
    ["on time", "late"],
    ["Stayed", "Churned"],
    ["Fully Paid", "Charged Off"],
    ["zero", "one"],
    ["0%", "50%", "100%"],
    ["😀", "😢", "😡"],
    ["http://a.b/x", "http://a.b/y"],
    ["data/cat", "data/dog"],
    ["cat (animal)", "dog (animal)", "car"],
    ["Yes, a lot", "Yes, a little", "No"],
    ["and/or", "either", "n/a-like"],
    ["R&D", "Sales", "HR"],
    ["C++", "C", "Java"],
    ["pre-K", "K-5", "6-8"],
    ["a;b", "c;d"],
    ["not_hired", "hired"],
    ["notHired", "hired"],
    ["Class1", "class2"],
    ["class 1", "class 2", "class 10"],
]


def tables(groups: Any, truth: Any, said: Any) -> Any:
    frame = pd.DataFrame({"g": groups, "t": truth, "p": said})
    return {"a frame": frame, "nullable": frame.convert_dtypes()}


def audited_rightly(groups: Any, truth: Any, said: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(groups, truth, said).n == N
        for data in tables(groups, truth, said).values():
            made = biasamp.audit(
                data, attributes="g", tasks="t", task_predictions="p", metrics="directional", resamples=20
            )
            assert not {row["code"] for row in made.document["findings"]} & MISTAKES


@pytest.mark.parametrize("values", GROUPS, ids=str)
def test_groups(values: list[Any]) -> None:
    rng = np.random.default_rng(3)
    place = rng.integers(0, len(values), N)
    truth = (rng.random(N) < np.where(place == 0, 0.65, 0.35)).astype(int)
    audited_rightly(np.array(values, dtype=object)[place], truth, np.where(rng.random(N) < 0.12, 1 - truth, truth))


@pytest.mark.parametrize("values", OUTCOMES, ids=str)
def test_outcomes(values: list[Any]) -> None:
    rng = np.random.default_rng(4)
    held, many = np.array(values, dtype=object), len(values)
    group = rng.integers(0, 2, N)
    truth = np.where(rng.random(N) < 0.3, group % many, rng.integers(0, many, N))
    said = np.where(rng.random(N) < 0.2, rng.integers(0, many, N), truth)
    audited_rightly(np.where(group == 1, "F", "M"), held[truth], held[said])
    if many > 2:  # a rare value that is never predicted
        rare = np.where((truth == many - 1) & (np.cumsum(truth == many - 1) > 3), 0, truth)
        audited_rightly(np.where(group == 1, "F", "M"), held[rare], held[np.where(said == many - 1, 0, said)])
