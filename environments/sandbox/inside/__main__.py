"""Starts the fork server, and collects the fork hooks of modules.

The fork server has one thread, so its forks need no clean-up: the hooks that `threading`, `logging` and `random`
register would only cost each program a third of a millisecond. They are collected instead, and registered in the
program for its own forks.
"""

import importlib
import os
import sys
from collections.abc import Callable

PRELOADED = ("collections", "dataclasses", "datetime", "decimal", "itertools", "typing")
"""Modules that programs often import, loaded once in the fork server instead of in each program."""


def main() -> None:
    """Import this folder as a package, start its server, and leave its path out of ``sys.path``."""
    folder, package = os.path.split(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib
    hooks: list[dict[str, Callable[[], object]]] = []

    def keep(**hook: Callable[[], object]) -> None:
        hooks.append(hook)

    register, os.register_at_fork = os.register_at_fork, keep
    sys.path[:1] = [folder]
    server = importlib.import_module(f"{package}.fork_server")
    for module in PRELOADED:
        importlib.import_module(module)
    del sys.path[0]
    os.register_at_fork = register
    server.main(hooks, *sys.argv[1:])


if __name__ == "__main__":
    main()
