"""Make exported.csv ready to be audited: yes and no become 1 and 0, scores of 0 to 100 become scores of 0 to 1."""

import csv

with open("exported.csv", newline="", encoding="utf-8-sig") as file:
    rows = list(csv.DictReader(file))
for row in rows:
    for column in ("invited", "model", "model_b"):
        row[column] = {"yes": "1", "no": "0"}.get(row[column].strip().lower(), "")
    if row["score"]:
        row["score"] = f"{float(row['score']) / 100:.4f}"
with open("tidy.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
