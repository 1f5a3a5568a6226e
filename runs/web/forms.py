"""Sites on which people judge items: the reviewer's name, the list of items, a form for each. They need no script."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from lawtrace.runs.web.site import Site
from lawtrace.schemas.errors import InputError

_COOKIE = "lawtrace_reviewer"
_MOST_FORM_BYTES = 200_000


class FormSite(Site):
    """The items of one file, each with a form, at ``/items``.

    ``reviewers``: the only names accepted; if empty, reviewers choose any name. ``templates``: a folder with more
    templates, searched first.
    """

    folder = "review"
    input_status = 400

    def __init__(self, title: str, noun: str, reviewers: Collection[str] = (), templates: Path | None = None) -> None:
        super().__init__(*([templates] if templates else []))
        self._reviewers = tuple(reviewers)
        self._frame = {"title": title, "noun": noun}

    def order(self) -> Sequence[str]:
        """The ids of all items, in order."""
        raise NotImplementedError

    def pending_for(self, reviewer: str) -> Sequence[str]:
        """The ids of the items that this reviewer has yet to judge, in order."""
        raise NotImplementedError

    def show_items(self, request: Request, reviewer: str | None) -> Response:
        """The list of items."""
        raise NotImplementedError

    def show_item(self, request: Request, item: str, reviewer: str | None) -> Response:
        """An item with its form."""
        raise NotImplementedError

    def take_form(self, request: Request, item: str, reviewer: str, form: Mapping[str, str]) -> Response | None:
        """Store what a reviewer sends about an item. Returns a page that asks again, or None for the next item."""
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
        order, pending = self.order(), self.pending_for(reviewer)
        if not pending:
            return RedirectResponse("/items", 303)
        after = request.query_params.get("after", "")
        start = order.index(after) if after in order else -1
        chosen = next((name for name in pending if order.index(name) > start), pending[0])
        return RedirectResponse(f"/items/{quote(chosen)}", 303)

    async def _list(self, request: Request) -> Response:
        return self.show_items(request, _reviewer(request))

    async def _item(self, request: Request) -> Response:
        return self.show_item(request, request.path_params["item"], _reviewer(request))

    async def _take(self, request: Request) -> Response:
        reviewer, item = _reviewer(request), request.path_params["item"]
        if reviewer is None:
            return RedirectResponse("/", 303)
        return self.take_form(request, item, reviewer, await _read_form(request)) or RedirectResponse("/next", 303)


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
