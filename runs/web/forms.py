"""Sites on which people judge items: the reviewer's name, the list of items, a form for each. They need no script."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, final
from urllib.parse import parse_qs, quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from lawtrace.runs.web.append_log import AppendLog, Row, utc_timestamp
from lawtrace.runs.web.site import Site
from lawtrace.schemas.errors import InputError

_COOKIE = "lawtrace_reviewer"
_MOST_FORM_BYTES = 200_000


@final
@dataclass(frozen=True, slots=True)
class AskAgain:
    """A form that cannot be taken as it is. ``values``: of the page of its item, which is shown again."""

    values: Mapping[str, Any]


class FormSite(Site, Generic[Row]):
    """The items of one file, each with a form, at ``/items``; what reviewers send is a row of the log.

    ``items``: their ids, in order. ``clock`` returns the time of a row. ``reviewers``: the only names accepted; if
    empty, reviewers choose any name. ``templates``: a folder with more templates, searched first.
    """

    folder = "review"
    input_status = 400
    list_template = "items"
    item_template = "item"

    def __init__(
        self,
        title: str,
        noun: str,
        items: Sequence[str],
        log: AppendLog[Row],
        clock: Callable[[], str] = utc_timestamp,
        reviewers: Collection[str] = (),
        templates: Sequence[Path] = (),
    ) -> None:
        super().__init__(*templates)
        self._ids = tuple(items)
        self._log = log
        self._clock = clock
        self._reviewers = tuple(reviewers)
        self._frame = {"title": title, "noun": noun}

    def pending_for(self, reviewer: str) -> Sequence[str]:
        """The ids of the items that this reviewer has yet to judge, in order."""
        raise NotImplementedError

    def list_values(self) -> Mapping[str, Any]:
        """The values of the list of items, beside ``pending``."""
        raise NotImplementedError

    def item_values(self, item: str, reviewer: str | None) -> Mapping[str, Any]:
        """The values of the page of an item, beside ``left``, the number of pending ones."""
        raise NotImplementedError

    def read_form(self, item: str, reviewer: str, form: Mapping[str, str]) -> Row | AskAgain:
        """The row of what a reviewer sends about an item."""
        raise NotImplementedError

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("/", self._start),
            Route("/name", self._set_name, methods=["POST"]),
            Route("/next", self._next),
            Route("/items", self._list),
            Route("/items/{item:path}", self._item, methods=["GET"]),
            Route("/items/{item:path}", self._take, methods=["POST"]),
        ]

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        return super().page(request, template, status=status, reviewer=_reviewer(request), **self._frame, **values)

    async def _start(self, request: Request) -> Response:
        """The page that asks for a name. Names are chosen, not authenticated."""
        return self.page(request, "start", names=self._reviewers)

    async def _set_name(self, request: Request) -> Response:
        name = (await _read_form(request)).get("name", "").strip()
        if not name or len(name) > 80:
            raise InputError("choose a name of at most 80 characters to sign your opinions with")
        if self._reviewers and name not in self._reviewers:
            raise InputError(f"{name!r} is not a reviewer of this review; reviewers: {', '.join(self._reviewers)}")
        response = RedirectResponse("/next", 303)
        response.set_cookie(_COOKIE, quote(name), samesite="strict", httponly=True)
        return response

    async def _next(self, request: Request) -> Response:
        """Redirect to the next pending item of the reviewer; with ``?after=`` to the next one after that item, wrapping
        around at the end; to the list if none is pending."""
        reviewer = _reviewer(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        pending = self.pending_for(reviewer)
        if not pending:
            return RedirectResponse("/items", 303)
        after = request.query_params.get("after", "")
        start = self._ids.index(after) if after in self._ids else -1
        chosen = next((name for name in pending if self._ids.index(name) > start), pending[0])
        return RedirectResponse(f"/items/{quote(chosen)}", 303)

    async def _list(self, request: Request) -> Response:
        reviewer = _reviewer(request)
        pending = self.pending_for(reviewer) if reviewer else ()
        return self.page(request, self.list_template, pending=pending, **self.list_values())

    async def _item(self, request: Request) -> Response:
        return self._show(request)

    def _show(self, request: Request, **values: Any) -> Response:  # noqa: ANN401
        item, reviewer = self._asked(request), _reviewer(request)
        left = len(self.pending_for(reviewer)) if reviewer else 0
        return self.page(request, self.item_template, left=left, **{**self.item_values(item, reviewer), **values})

    async def _take(self, request: Request) -> Response:
        reviewer = _reviewer(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        found = self.read_form(self._asked(request), reviewer, await _read_form(request))
        if isinstance(found, AskAgain):
            return self._show(request, **found.values)
        self._log.append(found)
        return RedirectResponse("/next", 303)

    def _asked(self, request: Request) -> str:
        item: str = request.path_params["item"]
        if item not in self._ids:
            raise HTTPException(404, f"there is no such {self._frame['noun']}")
        return item


def _reviewer(request: Request) -> str | None:
    return unquote(request.cookies.get(_COOKIE, "")).strip()[:80] or None


async def _read_form(request: Request) -> dict[str, str]:
    """The fields of a form. Raises InputError if it is too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM_BYTES:
            raise InputError("the form is too large")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    return {name: values[-1] for name, values in fields.items()}
