"""Shared parts of review sites: the reviewer's name, the page frame and the forms. Pages need no script."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from lawtrace.runs.web.render import SCRIPT, make_environment, render, render_css
from lawtrace.schemas.errors import InputError, LawtraceError

_COOKIE = "lawtrace_reviewer"
_MOST_FORM_BYTES = 200_000


class ReviewSite:
    """Takes the reviewer's name and shows pages in one frame.

    ``reviewers``: the only names accepted; if empty, reviewers choose any name. ``templates``: a folder with more
    templates, searched first.
    """

    def __init__(self, title: str, noun: str, reviewers: Collection[str] = (), templates: Path | None = None) -> None:
        self._reviewers = tuple(reviewers)
        self._environment = make_environment(*([templates] if templates else []))
        self._frame = {"title": title, "noun": noun}

    def routes(self) -> list[Route]:
        return [
            Route("/", self._start),
            Route("/name", self._set_name, methods=["POST"]),
            Route("/static/site.css", self._css),
            Route("/static/site.js", self._script),
        ]

    def error_handlers(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def lawtrace_error(request: Request, error: LawtraceError) -> Response:
            status = 400 if isinstance(error, InputError) else 500
            return self.show(request, "review/error", status=status, text=str(error))

        def http_error(request: Request, error: HTTPException) -> Response:
            text = f"{error.detail}: {request.url.path}"
            return self.show(request, "review/error", status=error.status_code, text=text)

        return {LawtraceError: lawtrace_error, HTTPException: http_error}

    def show(self, request: Request, template: str, *, status: int = 200, **values: object) -> Response:
        """Render a template in the page frame."""
        known = {**self._frame, "reviewer": reviewer_of(request), **values}
        text = render(self._environment, f"{template}.html.jinja", **known)
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)

    def to_next(self, request: Request, order: Sequence[str], pending_for: Callable[[str], Sequence[str]]) -> Response:
        """Redirect to the next pending item of the reviewer; with ``?after=`` to the next one after that item, wrapping
        around at the end; to the overview if none is pending."""
        reviewer = reviewer_of(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        pending = pending_for(reviewer)
        if not pending:
            return RedirectResponse("/items", 303)
        after = request.query_params.get("after", "")
        start = order.index(after) if after in order else -1
        chosen = next((name for name in pending if order.index(name) > start), pending[0])
        return RedirectResponse(f"/items/{quote(chosen)}", 303)

    async def _start(self, request: Request) -> Response:
        """The page that asks for a name. Names are chosen, not authenticated."""
        return self.show(request, "review/start", names=self._reviewers)

    async def _set_name(self, request: Request) -> Response:
        name = (await read_form(request)).get("name", "").strip()
        if not name or len(name) > 80:
            raise InputError("choose a name of at most 80 characters to sign your opinions with")
        if self._reviewers and name not in self._reviewers:
            raise InputError(f"{name!r} is not a reviewer of this review; reviewers: {', '.join(self._reviewers)}")
        response = RedirectResponse("/next", 303)
        response.set_cookie(_COOKIE, quote(name), samesite="strict", httponly=True)
        return response

    async def _css(self, request: Request) -> Response:
        return Response(render_css(self._environment), media_type="text/css")

    async def _script(self, request: Request) -> Response:
        return FileResponse(SCRIPT, media_type="text/javascript")


def reviewer_of(request: Request) -> str | None:
    return unquote(request.cookies.get(_COOKIE, "")).strip()[:80] or None


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form. Raises InputError if it is too large."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM_BYTES:
            raise InputError("the form is too large")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    return {name: values[-1] for name, values in fields.items()}
