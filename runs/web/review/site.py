"""What all pages of a review have in common: who you are, the frame, the forms. Every page works without a script."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from lawtrace.environments.errors import InputError, LawtraceError
from lawtrace.runs.web.render import TEMPLATES as REPORT_TEMPLATES
from lawtrace.runs.web.render import template_environment

_COOKIE = "lawtrace_reviewer"
_LARGEST = 200_000
"""Bytes of a form."""
_TEMPLATES = Path(__file__).parent / "templates"
_STATIC = {
    "report.css": (REPORT_TEMPLATES / "report.css", "text/css"),
    "review.css": (_TEMPLATES / "review.css", "text/css"),
    "review.js": (_TEMPLATES / "review.js", "text/javascript"),
}


class ReviewSite:
    """Where somebody sits down to review: takes their name, and shows pages in one frame.

    ``named``: the only names that are admitted; with none anybody is, under the name they choose.
    """

    def __init__(self, title: str, noun: str, named: Collection[str] = ()) -> None:
        self._named = tuple(named)
        self._templates = template_environment(
            _TEMPLATES, filters={"segment": quote}, values={"title": title, "noun": noun}
        )

    def routes(self) -> list[Route]:
        return [
            Route("/", self._start),
            Route("/name", self._take_name, methods=["POST"]),
            Route("/static/{name}", self._static),
        ]

    def troubles(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def ours(request: Request, error: LawtraceError) -> Response:
            status = 400 if isinstance(error, InputError) else 500
            return self.show(request, "trouble", status=status, text=str(error))

        def nowhere(request: Request, error: HTTPException) -> Response:
            return self.show(request, "trouble", status=error.status_code, text=f"{error.detail}: {request.url.path}")

        return {LawtraceError: ours, HTTPException: nowhere}

    def show(self, request: Request, template: str, *, status: int = 200, **values: object) -> Response:
        """A page: the template, filled, in the frame."""
        text = self._templates.get_template(f"{template}.html.jinja").render(reviewer=reviewer_of(request), **values)
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)

    def to_next(self, request: Request, order: Sequence[str], waiting_for: Callable[[str], Sequence[str]]) -> Response:
        """To the next item in the order that waits for the reviewer; with ``?after=`` to the next behind that one,
        around the end; to the overview if none waits."""
        reviewer = reviewer_of(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        waiting = waiting_for(reviewer)
        if not waiting:
            return RedirectResponse("/items", 303)
        left = request.query_params.get("after", "")
        behind = order.index(left) if left in order else -1
        chosen = next((name for name in waiting if order.index(name) > behind), waiting[0])
        return RedirectResponse(f"/items/{quote(chosen)}", 303)

    async def _start(self, request: Request) -> Response:
        """Who are you? Names are chosen, not proved: an opinion is signed with what somebody called themselves."""
        return self.show(request, "start", names=self._named)

    async def _take_name(self, request: Request) -> Response:
        name = (await read_form(request)).get("name", "").strip()
        if not name or len(name) > 80:
            raise InputError("choose a name of at most 80 characters to sign your opinions with")
        if self._named and name not in self._named:
            raise InputError(f"{name!r} is none of the reviewers of this review: {', '.join(self._named)}")
        response = RedirectResponse("/next", 303)
        response.set_cookie(_COOKIE, quote(name), samesite="strict", httponly=True)
        return response

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        path, kind = _STATIC[name]
        return FileResponse(path, media_type=kind)


def reviewer_of(request: Request) -> str | None:
    return unquote(request.cookies.get(_COOKIE, "")).strip()[:80] or None


async def read_form(request: Request) -> dict[str, str]:
    """What a form sent. Raises InputError if that is too much."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise InputError("that is more than a form may send")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    return {name: values[-1] for name, values in fields.items()}
