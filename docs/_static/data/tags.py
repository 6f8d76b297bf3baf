"""Make tags, several in one field, columns of 1 and 0: one for each tag."""

import csv

FILE, SEPARATOR, ENCODING = "photos.csv", ",", "utf-8-sig"
TRUTH, MODEL, BETWEEN = "tags", "model tags", "|"


def split(field):
    return {tag.strip() for tag in field.split(BETWEEN)} - {""}


with open(FILE, newline="", encoding=ENCODING) as file:
    rows = list(csv.DictReader(file, delimiter=SEPARATOR))
tags = {column: [split(row.pop(column)) for row in rows] for column in (TRUTH, MODEL)}
known = sorted(set().union(*tags[TRUTH]))
invented = set().union(*tags[MODEL]) - {*known}
print("left out, as only the model has them:", sorted(invented) or "none")
for column, held in tags.items():
    for row, mine in zip(rows, held, strict=True):
        row.update({f"{column}: {tag}": int(tag in mine) for tag in known})
with open("tags.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
