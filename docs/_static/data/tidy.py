"""Make a file ready to be audited: some rows kept, gaps empty, values spelled alike, yes and no as 1 and 0, scores from 0 to 1."""

import csv

FILE, SEPARATOR, ENCODING = "exported.csv", ",", "utf-8-sig"
KEEP = {"part": "test"}  # rows that are kept; {} keeps all
GAPS = ("", "n/a", "na", "unknown", "?")
SAME = {"gender": {"f": "woman", "m": "man"}}  # capitals do not count
YES_NO, ONE_ZERO = ("invited", "model", "model_b"), {"yes": "1", "no": "0"}  # "": "0" where an empty field says no
SCORES, LARGEST_SCORE = ("score",), 100


def tidied(column, value):
    value = value.strip()
    if column in YES_NO and value.lower() in ONE_ZERO:
        return ONE_ZERO[value.lower()]
    if value.lower() in GAPS:
        return ""
    if column in SCORES:
        return round(float(value.replace(",", ".")) / LARGEST_SCORE, 6)
    if column in SAME:
        return SAME[column].get(value.lower(), value.lower())
    return value


with open(FILE, newline="", encoding=ENCODING) as file:
    reader = csv.DictReader(file, delimiter=SEPARATOR)
    kept = [row for row in reader if all(row[column] == value for column, value in KEEP.items())]
with open("tidy.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, reader.fieldnames)
    writer.writeheader()
    writer.writerows({column: tidied(column, value) for column, value in row.items()} for row in kept)
