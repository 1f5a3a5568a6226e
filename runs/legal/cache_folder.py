"""Where what is kept from run to run is: below ``lawtrace`` in the folder that XDG_CACHE_HOME names (``~/.cache``)."""

import os
from pathlib import Path


def cache_folder(what: str) -> Path:
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path("~/.cache").expanduser()
    return base / "lawtrace" / what
