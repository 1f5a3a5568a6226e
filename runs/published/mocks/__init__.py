"""The tools of the published evaluation, as its mock answers calls."""

from collections.abc import Mapping

from lawtrace.runs.published.mocks.bank import BankMock
from lawtrace.runs.published.mocks.base import PublishedMock
from lawtrace.runs.published.mocks.lock import LockMock
from lawtrace.runs.published.mocks.teladoc import TeladocMock

__all__ = ["MOCKS", "BankMock", "LockMock", "PublishedMock", "TeladocMock"]

MOCKS: Mapping[str, type[PublishedMock]] = {"BankManager": BankMock, "SmartLock": LockMock, "Teladoc": TeladocMock}
"""By the name under which published programs find the tools."""
