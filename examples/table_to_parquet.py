"""A sweep's table.csv as Parquet (or Arrow IPC, if the name ends in .arrow), with types.

    pip install pandas pyarrow
    python examples/table_to_parquet.py sweep/table.csv sweep/table.parquet

Columns of lists (parameters.radii, command) are JSON in the CSV and become lists.
"""

import json
import sys

import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet


def read_table(path: str) -> pandas.DataFrame:
    """The table with numbers, words and lists; a cell that is empty is a missing value."""
    # A digest may look like a number.
    table = pandas.read_csv(path, dtype={"mesh_sha256": str, "commit": str, "version": str, "error": str})
    for name in table.columns:
        filled = table[name].dropna()
        if len(filled) and filled.map(lambda cell: isinstance(cell, str) and cell.startswith("[")).all():
            table[name] = table[name].map(lambda cell: json.loads(cell) if isinstance(cell, str) else None)
    return table.convert_dtypes()


def main(source: str, target: str) -> None:
    table = pyarrow.Table.from_pandas(read_table(source), preserve_index=False)
    if target.endswith(".arrow"):
        pyarrow.feather.write_feather(table, target, compression="uncompressed")
    else:
        pyarrow.parquet.write_table(table, target)
    print(f"{table.num_rows} rows, {table.num_columns} columns: {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
