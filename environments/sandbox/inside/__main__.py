"""Starts the warm parent, and keeps what modules want done after a fork.

The warm parent has one thread, so nothing needs to be put in order in its forks: what `threading`, `logging` and
`random` register for that would only cost each program a third of a millisecond. The hooks are kept instead, and a
program has them for forks of its own.
"""

import importlib
import os
import sys
from collections.abc import Callable

PRELOADED = ("collections", "dataclasses", "datetime", "decimal", "itertools", "typing")
"""Modules that programs like to import: loaded once in the warm parent instead of once in each program."""


def main() -> None:
    """Import the package that this folder is, whatever it stands in, and leave no way to it behind."""
    folder, package = os.path.split(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib
    hooks: list[dict[str, Callable[[], object]]] = []

    def keep(**hook: Callable[[], object]) -> None:
        hooks.append(hook)

    register, os.register_at_fork = os.register_at_fork, keep
    sys.path[:1] = [folder]
    parent = importlib.import_module(f"{package}.fork_server")
    for module in PRELOADED:
        importlib.import_module(module)
    del sys.path[0]
    os.register_at_fork = register
    parent.main(hooks, *sys.argv[1:])


if __name__ == "__main__":
    main()
