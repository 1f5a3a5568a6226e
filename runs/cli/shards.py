"""What the commands with ``--shard`` or ``--on`` have in common."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.store.shards import Shard
from lawtrace.schemas.errors import InputError

if TYPE_CHECKING:  # a plan of the calls waits for no client of a model
    from lawtrace.runs.runner import ShardResult

_AUTH_TOKEN = Path("~/.ray/auth_token")
"""Where Ray keeps the token of clusters that were started here."""


@contextmanager
def cluster_at(address: str | None, shard: Shard | str | None = None) -> Generator[Cluster | None]:
    """The cluster at an address; None without one. Raises InputError as `ray_cluster`, or with a shard."""
    if address is None:
        yield None
        return
    if shard is not None:
        raise InputError("--on divides the work among workers, and --shard among jobs; use one of them")
    if {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys() or (
        address.startswith("ray://") and _AUTH_TOKEN.expanduser().is_file()
    ):
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # read when Ray is imported; a client sends no token without
    try:
        from lawtrace.runs.cluster.ray_cluster import ray_cluster
    except ImportError as error:
        raise InputError(f"--on {address}: Ray is not installed: pip install 'lawtrace[ray]'") from error
    with ray_cluster(address) as cluster:
        yield cluster


def shard_result_of(made: "ShardResult", shard: Shard, out: Path) -> CommandResult:
    """How many attempts a shard has; exit code 1 if a model did not answer."""
    missing = made.unanswered
    summary = {"attempts": len(made.rows), "unanswered": len(missing), "shard": str(shard), "units": made.units}
    shown = f"{len(made.rows)} of {made.units} attempts (shard {shard}). `lawtrace merge` joins all shards."
    notes = [f"{len(missing)} replies of a model are missing. The last: {missing[-1]}"] if missing else []
    return CommandResult(summary, [shown], out, notes, 1 if missing else 0)
