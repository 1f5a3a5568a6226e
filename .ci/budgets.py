"""Lines of Python by part of the project, against the ceilings of `budgets.toml`. Exit code 1 if one is exceeded."""

# ruff: noqa: T201 (a script that prints)

import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def python_files() -> Iterator[Path]:
    """All sources and tests below the root; folders behind links and hidden ones are not entered."""
    for folder, inner, files in os.walk(ROOT):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (Path(folder, name).relative_to(ROOT) for name in files if name.endswith(".py"))


def main() -> int:
    parts = tomllib.loads((HERE / "budgets.toml").read_text(encoding="utf-8"))["parts"]
    lines = Counter[str]()
    for path in python_files():
        part = next((one["name"] for one in parts if any(fnmatch(str(path), files) for files in one["files"])), None)
        if part is not None:
            lines[part] += (ROOT / path).read_bytes().count(b"\n")
    print(f"{'lines of Python':30} {'now':>8} {'ceiling':>8} {'target':>8}")
    for part in parts:
        name, ceiling, target = part["name"], part["ceiling"], part["target"]
        excess = f"  {lines[name] - ceiling:,} too many" if lines[name] > ceiling else ""
        print(f"{name:30} {lines[name]:>8,} {ceiling:>8,} {target:>8,}{excess}")
    return int(any(lines[part["name"]] > part["ceiling"] for part in parts))


if __name__ == "__main__":
    sys.exit(main())
