"""A Ray cluster of this machine, for tests."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import entry_key


@contextmanager
def ray_workers(environment: Mapping[str, str], count: int = 2) -> Generator[None]:
    """A cluster with so many workers, which have addresses and keys from their environment."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**environment, "RAY_USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(name, value)
        ray.init("local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="error")
        try:
            yield
        finally:
            ray.shutdown()


def log_content(event_log: EventLogFile) -> list[str]:
    """The entries by key."""
    return sorted(map(entry_key, event_log.entries()))
