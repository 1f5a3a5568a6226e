"""What identifies a run on every page and in every file made from it: folder, date, version, digests, models."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from lawtrace.runs.store.event_log_file import EventLogFile


def identify_run(
    event_log: EventLogFile, *, models: Sequence[str], digests: Mapping[str, str | None]
) -> dict[str, str]:
    """Name -> value. ``digests``: of what the run was made from beside its recipe, by name; None if unknown."""
    recipe = json.dumps(event_log.recipe, sort_keys=True, ensure_ascii=False)
    return {
        "run": event_log.path.parent.resolve().name,
        "started": f"{event_log.created[:16].replace('T', ' ')} UTC",
        "lawtrace": event_log.written_by,
        "recipe": _short_digest(hashlib.sha256(recipe.encode()).hexdigest()),
        **{name: _short_digest(digest) for name, digest in digests.items() if digest},
        **({"models": ", ".join(models)} if models else {}),
    }


def _short_digest(digest: str) -> str:
    return f"sha256:{digest[:12]}"
