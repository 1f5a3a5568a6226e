"""The event log: what stores entries (`lawtrace.schemas.log_entries`).

`lawtrace.runs.store` keeps entries in a file, `MemoryEventLog` in a list.
"""

from typing import Protocol

from lawtrace.schemas.log_entries import Entry


class EventLog(Protocol):
    """Stores entries in order."""

    def record(self, entry: Entry) -> None:
        """Return once the entry is committed and would survive a crash of this process."""
        ...

    async def flush(self) -> None:
        """Return once all entries are on disk and would survive a crash of the machine."""
        ...


class MemoryEventLog:
    """An event log in memory, for tests and for users of the library."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def record(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def flush(self) -> None:
        """Does nothing: the entries are in memory."""
