"""The pages of a review: who are you, the next item, what came of it. Every page works without a script."""

import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from environments.errors import InputError, LawtraceError
from runs.report.page import TEMPLATES as REPORT_TEMPLATES
from runs.report.page import page_environment
from runs.reviewing.agreement import summarize_review
from runs.reviewing.ballot import Ballot, Item
from runs.reviewing.opinions import Decision, OpinionBook, OpinionRow
from runs.reviewing.protocol import Protocol
from runs.reviewing.subjects import Subject

__all__ = ["Pages"]

_COOKIE = "lawtrace_reviewer"
_LARGEST = 200_000
"""Bytes of a form."""
_DECISIONS: tuple[Decision, ...] = get_args(Decision)
_TEMPLATES = Path(__file__).parent / "templates"
_STATIC = {
    "report.css": (REPORT_TEMPLATES / "report.css", "text/css"),
    "review.css": (_TEMPLATES / "review.css", "text/css"),
    "review.js": (_TEMPLATES / "review.js", "text/javascript"),
}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


class Pages:
    """The pages over one file under review. ``clock`` says when an opinion was given."""

    def __init__(
        self, subject: Subject, protocol: Protocol, book: OpinionBook, clock: Callable[[], str] = _now
    ) -> None:
        self._subject = subject
        self._protocol = protocol
        self._book = book
        self._clock = clock
        self._items = tuple(subject.items())
        self._ballot = Ballot(protocol, self._items, book.rows)
        self._environment = page_environment(
            _TEMPLATES, filters={"segment": _segment}, values={"noun": subject.noun, "title": subject.title}
        )

    @property
    def ballot(self) -> Ballot:
        return self._ballot

    def routes(self) -> list[Route]:
        return [
            Route("/", self.start),
            Route("/name", self.take_name, methods=["POST"]),
            Route("/next", self.go_on),
            Route("/items", self.overview),
            Route("/items/{item:path}", self.item, methods=["GET"]),
            Route("/items/{item:path}", self.judge, methods=["POST"]),
            Route("/static/{name}", self.static),
        ]

    def troubles(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def ours(request: Request, error: LawtraceError) -> Response:
            status = 400 if isinstance(error, InputError) else 500
            return self._page(request, "trouble", status=status, text=str(error))

        def nowhere(request: Request, error: HTTPException) -> Response:
            return self._page(request, "trouble", status=error.status_code, text=f"{error.detail}: {request.url.path}")

        return {LawtraceError: ours, HTTPException: nowhere}

    async def start(self, request: Request) -> Response:
        """Who are you? Names are chosen, not proved: an opinion is signed with what somebody called themselves."""
        named = self._protocol.reviewers
        return self._page(request, "start", names=() if isinstance(named, int) else named)

    async def take_name(self, request: Request) -> Response:
        name = (await _form(request)).get("name", "").strip()
        if not name or len(name) > 80:
            raise InputError("choose a name of at most 80 characters to sign your opinions with")
        if not self._protocol.admits(name):
            raise InputError(f"{name!r} is none of the reviewers of this review: {self._protocol.reviewers}")
        response = RedirectResponse("/next", 303)
        response.set_cookie(_COOKIE, quote(name), samesite="strict", httponly=True)
        return response

    async def go_on(self, request: Request) -> Response:
        reviewer = _reviewer(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        waiting = self._ballot.waiting_for(reviewer)
        return RedirectResponse(f"/items/{_segment(waiting[0].id)}" if waiting else "/items", 303)

    async def overview(self, request: Request) -> Response:
        reviewer = _reviewer(request)
        waiting = {item.id for item in self._ballot.waiting_for(reviewer)} if reviewer else set[str]()
        return self._page(
            request,
            "items",
            items=[(item, self._ballot.standings[item.id]) for item in self._ballot.items],
            waiting=waiting,
            summary=summarize_review(self._ballot),
            protocol=self._protocol,
        )

    async def item(self, request: Request) -> Response:
        return self._show(request, self._item(request))

    async def judge(self, request: Request) -> Response:
        """Take an opinion; the item is shown again if an edit cannot stand."""
        item, reviewer = self._item(request), _reviewer(request)
        if reviewer is None:
            return RedirectResponse("/", 303)
        form = await _form(request)
        decision = form.get("decision", "")
        if decision not in _DECISIONS:
            raise InputError(f"the decision must be one of {', '.join(_DECISIONS)}")
        if form.get("digest") != item.digest or item.id not in {one.id for one in self._ballot.waiting_for(reviewer)}:
            raise InputError(f"{item.id} does not wait for an opinion of {reviewer}; go on with the next")
        text = form.get("text", "").replace("\r\n", "\n").strip() if decision == "edit" else ""
        if decision == "edit":
            trouble = "that is what stands there already" if text == item.words else self._subject.objection(item, text)
            if trouble:
                return self._show(request, item, trouble=trouble, text=text, comment=form.get("comment", ""))
        row = OpinionRow(
            reviewer=reviewer,
            item=item.id,
            digest=item.digest,
            round=self._ballot.standings[item.id].round,
            decision=decision,
            text=text,
            comment=form.get("comment", "").strip()[:20_000],
            at=self._clock(),
        )
        self._book.append(row)
        self._ballot = Ballot(self._protocol, self._items, self._book.rows)
        return RedirectResponse("/next", 303)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        path, kind = _STATIC[name]
        return FileResponse(path, media_type=kind)

    def _item(self, request: Request) -> Item:
        wanted = request.path_params["item"]
        for item in self._ballot.items:
            if item.id == wanted:
                return item
        raise HTTPException(404, "there is no such item")

    def _show(
        self,
        request: Request,
        item: Item,
        *,
        trouble: str = "",
        text: str | None = None,
        comment: str = "",
    ) -> Response:
        reviewer = _reviewer(request)
        waiting = [one.id for one in self._ballot.waiting_for(reviewer)] if reviewer else []
        return self._page(
            request,
            "item",
            item=item,
            sheet=self._subject.sheet(item),
            sheet_template=self._subject.template,
            standing=self._ballot.standings[item.id],
            earlier=self._ballot.earlier(item),
            may_judge=item.id in waiting,
            left=len(waiting),
            rounds=self._protocol.rounds,
            trouble=trouble,
            text=item.words if text is None else text,
            comment=comment,
        )

    def _page(self, request: Request, template: str, *, status: int = 200, **values: object) -> Response:
        text = self._environment.get_template(f"{template}.html.jinja").render(reviewer=_reviewer(request), **values)
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)


def _reviewer(request: Request) -> str | None:
    return unquote(request.cookies.get(_COOKIE, "")).strip()[:80] or None


async def _form(request: Request) -> dict[str, str]:
    """What a form sent. Raises InputError if that is too much."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise InputError("that is more than a form may send")
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    return {name: values[-1] for name, values in fields.items()}


def _segment(name: str) -> str:
    """A name as part of a path; slashes stay."""
    return quote(name)
