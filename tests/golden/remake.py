"""Make the golden records again: `python -m tests.golden.remake [CASE...] [--keep FOLDER]`.

With ``--keep`` nothing is recorded: the outputs are written below FOLDER. Do so at two commits, and compare the
folders.
"""

import argparse
import tempfile
from pathlib import Path

from tests.golden.cases import CASES
from tests.golden.record import DATA, differences, make_record, read_record, write_record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    for name in given.cases or CASES:
        with tempfile.TemporaryDirectory() as folder:
            record = make_record(CASES[name], (given.keep.absolute() if given.keep else Path(folder)) / name)
        if given.keep:
            continue
        changed = list(differences(read_record(name), record)) if (DATA / f"{name}.json").exists() else ["new"]
        write_record(name, record)
        print(f"{name}: {len(changed) or 'nothing'} changed", *changed, sep="\n    ", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
