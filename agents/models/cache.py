"""Answers kept from run to run: what was asked of the same endpoint before is answered from the disk, for nothing."""

import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from autogen_core.models import CreateResult
from pydantic import ValidationError

from lawtrace.agents.models.model_call import Layer, ModelCall
from lawtrace.environments.errors import OperationalError


class AnswerCache:
    """A file of answers by key, shared by any number of runs and processes. What cannot be read is asked for again."""

    def __init__(self, path: Path) -> None:
        """Opens the file, made if it is missing. Raises CannotCarryOut naming it."""
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) STRICT"
            )
        except (OSError, sqlite3.Error) as error:
            raise OperationalError(
                f"{path}: no cache of answers can be kept there ({error}); remove the file, or run without --cache"
            ) from error

    def get(self, key: str) -> CreateResult | None:
        with suppress(sqlite3.Error, ValidationError):
            row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return CreateResult.model_validate_json(row[0]) if row else None
        return None

    def put(self, key: str, answer: CreateResult) -> None:
        """Keeps the first answer; a cache that cannot be written to keeps nothing, and the run goes on."""
        with suppress(sqlite3.Error):
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, answer.model_dump_json()))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Cached:
    """The layer. The key is the call's hash, which has the model, its parameters, messages, tools, tool choice, schema
    and trial in it, with the endpoint's address: two addresses may call different models by one name.

    How often the same was asked before is no part of it, so within a run, too, the same question gets the same answer;
    whoever wants another asks in another trial.
    """

    def __init__(self, inner: Layer, cache: AnswerCache, address: str) -> None:
        self._inner = inner
        self._cache = cache
        self._address = address

    async def ask(self, call: ModelCall) -> CreateResult:
        key = hashlib.sha256(f"{self._address} {call.request_hash}".encode()).hexdigest()
        known = self._cache.get(key)
        if known is not None:
            call.progress.cached = True
            return known
        answer = await self._inner.ask(call)
        self._cache.put(key, answer)
        return answer
