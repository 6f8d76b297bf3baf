"""Tables written to files of any format that is read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq


def write(table: Any, path: Path) -> Path:
    """Write a table in the format of the name."""
    kind = path.name.removesuffix(".gz").rsplit(".", 1)[1]
    plain = path.with_name(path.name.removesuffix(".gz"))
    if kind == "parquet":
        pq.write_table(table, plain)
    elif kind == "feather":
        feather.write_feather(table, str(plain))
    elif kind == "arrow":
        with pa.OSFile(str(plain), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    elif kind == "xlsx":
        from extras import needs

        book = needs("openpyxl").Workbook(write_only=True)
        sheet = book.create_sheet("data")
        for row in (table.column_names, *(list(record.values()) for record in table.to_pylist())):
            sheet.append(row)
        book.save(plain)
    elif kind in ("csv", "tsv"):
        from pyarrow import csv

        csv.write_csv(table, plain, csv.WriteOptions(delimiter="\t" if kind == "tsv" else ","))
    else:
        import json

        rows = [{k: v for k, v in row.items() if v is not None} for row in table.to_pylist()]
        plain.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path
