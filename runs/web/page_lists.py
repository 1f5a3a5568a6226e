"""Long lists on the viewer's pages: what a request asks for, and the page of the list that it gets."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from starlette.requests import Request

Row = TypeVar("Row")
PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Pagination:
    """The position in a long list. ``total`` is None where counting would be slow."""

    page: int
    total: int | None
    more: bool

    @property
    def start(self) -> int:
        """The index of the first item of the page."""
        return (self.page - 1) * PAGE_SIZE

    def of(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows of the page, of all rows."""
        return rows[self.start : self.start + PAGE_SIZE]

    @property
    def pages(self) -> int | None:
        return None if self.total is None else max(1, -(-self.total // PAGE_SIZE))


@dataclass(frozen=True, slots=True)
class Order:
    """How a list is sorted: ``?sort=KEY`` is ascending, ``?sort=-KEY`` descending; ``key`` None is its own order."""

    key: str | None = None
    direction: Literal["ascending", "descending"] = "ascending"

    @property
    def asked(self) -> str | None:
        """The order as the value of ``sort``."""
        return f"-{self.key}" if self.key and self.direction == "descending" else self.key

    def after_click(self, key: str) -> str:
        """The value of ``sort`` after a click on the header of this key."""
        return f"-{key}" if (self.key, self.direction) == (key, "ascending") else key


def sort_rows(
    request: Request, rows: Sequence[Row], keys: Mapping[str, Callable[[Row], Any]]
) -> tuple[Sequence[Row], Order]:
    """All rows in the order that the request asks for. ``keys``: name -> key of a row; rows with None come last."""
    asked = request.query_params.get("sort", "")
    key = keys.get(asked.removeprefix("-"))
    if key is None:
        return rows, Order()
    order = Order(asked.removeprefix("-"), "descending" if asked.startswith("-") else "ascending")
    keyed = [(key(row), row) for row in rows]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.direction == "descending")
    return [row for _, row in known] + [row for value, row in keyed if value is None], order


def natural_key(text: str | None) -> tuple[tuple[int, int, str], ...] | None:
    """Text in the order of its numbers and letters: ``task-2`` before ``task-10``. None for an empty text."""
    parts = re.findall(r"\d{1,18}|\D+", (text or "").lower())
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts) or None


def parameters(request: Request, *names: str) -> dict[str, str | None]:
    return {name: request.query_params.get(name) or None for name in names}


def paginate(request: Request, total: int) -> Pagination:
    """The requested page, or the last one."""
    last = max(1, -(-total // PAGE_SIZE))
    page = min(max(1, query_number(request, "page", 1)), last)
    return Pagination(page, total, page < last)


def query_number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 18 else default
