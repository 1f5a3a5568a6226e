"""Finding an environment by name: its declaration, its regulation, and where its curated rules stand."""

import difflib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from environments.banking import ENVIRONMENT as BANKING
from environments.declaration import Environment
from environments.errors import InputError
from environments.regulation import Regulation, load_regulation

__all__ = ["BUILT_IN", "Setting", "load_setting"]

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment with the regulation it stands under and the file of its curated rule set."""

    environment: Environment
    regulation: Regulation
    rules_file: Path

    def with_regulation(self, regulation: Regulation) -> "Setting":
        """The same environment under another text."""
        return replace(self, regulation=regulation)


BUILT_IN = {"banking": (BANKING, _HERE / "banking" / "psd2.toml", _HERE / "banking" / "rules.toml")}


@lru_cache(maxsize=32)
def load_setting(name: str) -> Setting:
    """The setting of that name. Raises InputError naming the ones there are."""
    if name not in BUILT_IN:
        nearest = difflib.get_close_matches(name, BUILT_IN, 1)
        meant = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise InputError(f"there is no environment {name!r}; {meant}built in: {', '.join(BUILT_IN)}")
    environment, regulation, rules = BUILT_IN[name]
    return Setting(environment, load_regulation(regulation), rules)
