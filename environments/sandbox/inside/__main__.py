"""Starts the fork server."""

import importlib
import os
import sys

PRELOADED = ("collections", "dataclasses", "datetime", "decimal", "itertools", "typing")
"""Modules that programs often import, loaded once in the fork server instead of in each program."""


def main() -> None:
    """Import this folder as a package, start its server, and leave its path out of ``sys.path``."""
    folder, package = os.path.split(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib
    sys.path[:1] = [folder]
    server = importlib.import_module(f"{package}.fork_server")
    for module in PRELOADED:
        importlib.import_module(module)
    del sys.path[0]
    server.main(*sys.argv[1:])


if __name__ == "__main__":
    main()
