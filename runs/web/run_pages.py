"""The pages: each a function from a request to a template and its values. Nothing here writes anything."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from lawtrace.environments.errors import InputError, LawtraceError
from lawtrace.runs.report.attempt_view import view_attempt, view_task
from lawtrace.runs.report.blame import find_causes
from lawtrace.runs.report.labels import MONITOR_LABELS, OUTCOME_LABELS
from lawtrace.runs.report.message_view import conversation_title, view_message
from lawtrace.runs.report.run_comparison import RunComparison, compare_runs, read_side
from lawtrace.runs.report.run_index import RunIndex
from lawtrace.runs.report.run_progress import measure_progress
from lawtrace.runs.report.transcript_diff import diff_conversations, message_text
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary
from lawtrace.runs.schemas.verdict_rows import OUTCOMES
from lawtrace.runs.scoring.metrics import OutcomeCounts
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    LoggedConversation,
    LoggedMessage,
    MessageQuery,
    conversation_messages,
    count_conversations,
    count_messages,
    find_conversations,
    find_messages,
)
from lawtrace.runs.web.render import TEMPLATES as REPORT_TEMPLATES
from lawtrace.runs.web.render import template_environment

PAGE_SIZE = 50
MESSAGE_CHARACTERS = 8_000
"""Characters of a message that its conversation shows; the rest has a page of its own."""

_TEMPLATES = Path(__file__).parent / "templates"
_STATIC = {
    "report.css": (REPORT_TEMPLATES / "report.css", "text/css"),
    "viewer.css": (_TEMPLATES / "viewer.css", "text/css"),
    "viewer.js": (_TEMPLATES / "viewer.js", "text/javascript"),
}


@dataclass(frozen=True, slots=True)
class Pagination:
    """Which page of a long list is shown. ``total`` is None where counting would cost too much."""

    page: int
    total: int | None
    more: bool

    @property
    def pages(self) -> int | None:
        return None if self.total is None else max(1, -(-self.total // PAGE_SIZE))


class RunPages:
    """The pages over the runs of a library."""

    def __init__(self, library: RunIndex) -> None:
        self._library = library
        self._environment = template_environment(
            _TEMPLATES,
            filters={"heading": conversation_title, "segment": _segment},
            values={
                "OUTCOMES": OUTCOMES,
                "OUTCOME_LOOKS": OUTCOME_LABELS,
                "MONITOR_LOOKS": MONITOR_LABELS,
                "LONGEST": MESSAGE_CHARACTERS,
                "query": _query,
            },
        )

    def routes(self) -> list[Route]:
        return [
            Route("/", self.runs),
            Route("/compare", self.compare),
            Route("/static/outcomes.css", self.outcomes_css),
            Route("/static/{name}", self.static),
            Route("/runs/{run}/", self.run),
            Route("/runs/{run}/progress", self.progress),
            Route("/runs/{run}/attempts", self.attempts),
            Route("/runs/{run}/attempts/{number:int}", self.attempt),
            Route("/runs/{run}/tasks", self.tasks),
            Route("/runs/{run}/tasks/{number:int}", self.task),
            Route("/runs/{run}/conversations", self.conversations),
            Route("/runs/{run}/conversations/{number:int}", self.conversation),
            Route("/runs/{run}/messages/{number:int}", self.message),
            Route("/runs/{run}/search", self.search),
            Route("/runs/{run}/report.html", self.report),
            Route("/runs/{run}/variants/{variant:int}/report.html", self.report),
        ]

    def troubles(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        """What is shown when a page cannot be: our errors, and addresses that lead nowhere."""

        def ours(_: Request, error: LawtraceError) -> Response:
            return self._page("trouble", status=404 if isinstance(error, InputError) else 500, text=str(error))

        def nowhere(request: Request, error: HTTPException) -> Response:
            return self._page("trouble", status=error.status_code, text=f"{error.detail}: {request.url.path}")

        return {LawtraceError: ours, HTTPException: nowhere}

    def runs(self, request: Request) -> Response:
        names = self._library.names()
        paging, start = _paging(request, len(names))
        lines = [self._library.line(name) for name in names[start : start + PAGE_SIZE]]
        return self._page("runs", root=str(self._library.root), lines=lines, paging=paging, names=names[:500])

    def run(self, request: Request) -> Response:
        name, folder, judged = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            return self._page(
                "run",
                run=name,
                progress=measure_progress(folder, event_log, judged),
                recipe=event_log.recipe,
                created=event_log.created,
                has_report=folder.report.exists(),
                table=_outcomes(judged.marks),
                broken=Counter(rule for mark in judged.marks for rule in mark.broken).most_common(),
            )

    def progress(self, request: Request) -> Response:
        """The part of a run's page that changes while it goes on."""
        name, folder, judged = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            return self._page("progress", run=name, progress=measure_progress(folder, event_log, judged))

    def attempts(self, request: Request) -> Response:
        name, _, judged = self._run(request)
        asked = {
            key: request.query_params.get(key) or None
            for key in ("outcome", "rule", "task", "style", "model", "variant")
        }
        marks = judged.select(**asked)
        paging, start = _paging(request, len(marks))
        return self._page(
            "attempts",
            run=name,
            marks=marks[start : start + PAGE_SIZE],
            asked=asked,
            paging=paging,
            models=sorted({mark.model for mark in judged.marks}),
            variants=_variants(judged),
            rules=sorted({rule for mark in judged.marks for rule in mark.broken}),
        )

    def attempt(self, request: Request) -> Response:
        name, folder, judged = self._run(request)
        mark = _numbered(judged.marks, request.path_params["number"], "attempt")
        tasks = self._library.tasks(name)
        if (mark.variant, mark.task) not in tasks.numbers:
            raise InputError(f"{folder.path}: holds no task {mark.task!r}")
        number = tasks.numbers[mark.variant, mark.task]
        task = tasks.row(number)
        with EventLogFile.open(folder.path) as event_log:
            view = view_attempt(event_log, judged, mark, task)
        return self._page(
            "attempt_page", run=name, view=view, card=view.card, task=task, task_number=number, rule_anchors={}
        )

    def tasks(self, request: Request) -> Response:
        name, _, judged = self._run(request)
        tasks = self._library.tasks(name)
        paging, start = _paging(request, len(tasks.lines))
        shown = list(enumerate(tasks.lines))[start : start + PAGE_SIZE]
        marks: dict[int, list[VerdictSummary]] = {number: [] for number, _ in shown}
        for mark in judged.marks:
            number = tasks.numbers.get((mark.variant, mark.task))
            if number in marks:
                marks[number].append(mark)
        return self._page("tasks", run=name, tasks=shown, marks=marks, paging=paging)

    def task(self, request: Request) -> Response:
        name, folder, judged = self._run(request)
        tasks = self._library.tasks(name)
        number: int = request.path_params["number"]
        task = tasks.row(number)
        with EventLogFile.open(folder.path) as event_log:
            talks = find_conversations(event_log, MessageQuery(task=task.id), limit=PAGE_SIZE)
        return self._page(
            "task_page",
            run=name,
            page=view_task(task),
            task=task,
            number=number,
            last=len(tasks.lines) - 1,
            variant=tasks.lines[number].variant,
            marks=judged.select(task=task.id, variant=tasks.lines[number].variant),
            talks=[talk for talk in talks if talk.place.stage != "attempts"],
        )

    def conversations(self, request: Request) -> Response:
        name, folder, judged = self._run(request)
        asked = {key: request.query_params.get(key) or None for key in ("stage", "task", "style", "role", "text")}
        wanted = MessageQuery(**asked)  # pyright: ignore[reportArgumentType]
        with EventLogFile.open(folder.path) as event_log:
            paging, start = _paging(request, count_conversations(event_log, wanted))
            talks = find_conversations(event_log, wanted, limit=PAGE_SIZE, offset=start)
            stages = [row[0] for row in event_log.rows("SELECT DISTINCT stage FROM conversations ORDER BY stage")]
        return self._page(
            "conversations",
            run=name,
            talks=[(talk, judged.at(talk.place)) for talk in talks],
            asked=asked,
            stages=stages,
            paging=paging,
        )

    def conversation(self, request: Request) -> Response:
        """A thread, a page of it at a time; ``?at=NUMBER`` shows the page with that line."""
        name, folder, judged = self._run(request)
        number: int = request.path_params["number"]
        with EventLogFile.open(folder.path) as event_log:
            found = find_conversations(event_log, MessageQuery(conversations=[number]))
            if not found:
                raise InputError(f"{folder.path}: there is no conversation {number}")
            talk = found[0]
            at = _number(request, "at", 0)
            page = count_messages(event_log, number, before=at) // PAGE_SIZE if at else _number(request, "page", 1) - 1
            page = min(max(page, 0), max(0, (talk.lines - 1) // PAGE_SIZE))
            lines = conversation_messages(event_log, number, limit=PAGE_SIZE, offset=page * PAGE_SIZE)
            mark = judged.at(talk.place)
            verdict = judged.verdict(mark) if mark else None
            causes = find_causes(verdict, conversation_messages(event_log, number)) if verdict else []
            before, after = _neighbours(event_log, number)
        return self._page(
            "conversation",
            run=name,
            talk=talk,
            lines=[(said, view_message(said.line)) for said in lines],
            mark=mark,
            causes=causes,
            at=at,
            before=before,
            after=after,
            paging=Pagination(page + 1, talk.lines, talk.lines > (page + 1) * PAGE_SIZE),
        )

    def message(self, request: Request) -> Response:
        """The whole of one line, as plain text."""
        _, folder, _ = self._run(request)
        number: int = request.path_params["number"]
        with EventLogFile.open(folder.path) as event_log:
            said = find_messages(event_log, after=number - 1, limit=1)
        if not said or said[0].number != number:
            raise InputError(f"{folder.path}: there is no message {number}")
        return PlainTextResponse(message_text(said[0].line))

    def search(self, request: Request) -> Response:
        name, folder, _ = self._run(request)
        text = request.query_params.get("text", "").strip()
        role = request.query_params.get("role") or None
        lines: Sequence[LoggedMessage] = ()
        talks: dict[int, LoggedConversation] = {}
        page, trouble = max(1, _number(request, "page", 1)), ""
        with EventLogFile.open(folder.path) as event_log:
            if text:
                try:
                    wanted = MessageQuery(text=text, role=role)
                    lines = find_messages(event_log, wanted, limit=PAGE_SIZE + 1, offset=(page - 1) * PAGE_SIZE)
                except InputError as error:
                    trouble = str(error)
            numbers = list(dict.fromkeys(said.conversation for said in lines))
            talks = {talk.id: talk for talk in find_conversations(event_log, MessageQuery(conversations=numbers))}
        return self._page(
            "search",
            run=name,
            text=text,
            role=role,
            trouble=trouble,
            found=[
                (said, talks[said.conversation], _excerpt(message_text(said.line), text)) for said in lines[:PAGE_SIZE]
            ],
            paging=Pagination(page, None, len(lines) > PAGE_SIZE),
        )

    def compare(self, request: Request) -> Response:
        """Two runs: the outcomes that flipped, and the conversations that part."""
        names = [request.query_params.get(side, "") for side in ("first", "second")]
        first, second = (self._library.folder(name) for name in names)
        comparison: RunComparison | None = None
        trouble = ""
        try:
            comparison = compare_runs(read_side(first.path), read_side(second.path))
        except InputError as error:
            trouble = str(error)
        page = max(1, _number(request, "page", 1))
        with EventLogFile.open(first.path) as one, EventLogFile.open(second.path) as other:
            start = (page - 1) * PAGE_SIZE
            found = list(islice(diff_conversations(one, other, MessageQuery()), start, start + PAGE_SIZE + 1))
        return self._page(
            "compare",
            names=names,
            comparison=comparison,
            trouble=trouble,
            partings=found[:PAGE_SIZE],
            paging=Pagination(page, None, len(found) > PAGE_SIZE),
        )

    def report(self, request: Request) -> Response:
        """The run's report, which brings its own policy; this one takes away what the viewer may do."""
        folder = self._library.folder(request.path_params["run"])
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        if not folder.report.exists():
            raise InputError(f"{folder.path}: the run has no report yet")
        policy = "sandbox allow-scripts allow-popups; frame-ancestors 'none'; connect-src 'none'; form-action 'none'"
        return FileResponse(folder.report, headers={"content-security-policy": policy})

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        path, kind = _STATIC[name]
        return FileResponse(path, media_type=kind)

    def outcomes_css(self, request: Request) -> Response:
        return Response(self._environment.get_template("outcomes.css.jinja").render(), media_type="text/css")

    def _run(self, request: Request) -> tuple[str, Any, VerdictIndex]:
        name = request.path_params["run"]
        return name, self._library.folder(name), self._library.judged(name)

    def _page(self, template: str, *, status: int = 200, **values: object) -> Response:
        text = self._environment.get_template(f"{template}.html.jinja").render(
            alone=self._library.alone, scenario_title=str, **values
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)


def _outcomes(marks: Sequence[VerdictSummary]) -> Mapping[str | None, Sequence[tuple[str, str, OutcomeCounts]]]:
    """Variant (None without an ablation) -> model, style and tally, in the order in which they first appear."""
    groups: dict[tuple[str | None, str, str], Counter[Any]] = {}
    for mark in marks:
        groups.setdefault((mark.variant, mark.model, mark.style), Counter())[mark.outcome] += 1
    lines: dict[str | None, list[tuple[str, str, OutcomeCounts]]] = {}
    for (variant, model, style), counts in groups.items():
        lines.setdefault(variant, []).append((model, style, OutcomeCounts(counts, counts.total())))
    return lines


def _variants(judged: VerdictIndex) -> list[str]:
    return list(dict.fromkeys(mark.variant for mark in judged.marks if mark.variant))


def _numbered(marks: Sequence[VerdictSummary], number: int, what: str) -> VerdictSummary:
    if not 0 <= number < len(marks):
        raise InputError(f"there is no {what} number {number + 1}; the run has {len(marks)}")
    return marks[number]


def _paging(request: Request, total: int) -> tuple[Pagination, int]:
    """The page that is asked for, and the index at which it starts."""
    last = max(1, -(-total // PAGE_SIZE))
    page = min(max(1, _number(request, "page", 1)), last)
    return Pagination(page, total, page < last), (page - 1) * PAGE_SIZE


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 18 else default


def _neighbours(event_log: EventLogFile, number: int) -> tuple[int | None, int | None]:
    before = event_log.rows("SELECT max(id) FROM conversations WHERE id < ?", (number,))[0][0]
    after = event_log.rows("SELECT min(id) FROM conversations WHERE id > ?", (number,))[0][0]
    return before, after


def _excerpt(words: str, text: str) -> tuple[str, str, str]:
    """What stands before the first hit, the hit, and what stands after it."""
    hits = (re.search(re.escape(word), words, re.IGNORECASE) for word in re.findall(r"[^\W_]+", text))
    start, end = next((hit.span() for hit in hits if hit), (0, 0))
    return ("…" if start > 100 else "") + words[max(0, start - 100) : start], words[start:end], words[end : end + 200]


def _segment(name: str) -> str:
    """A name as one part of a path; that of a folder may hold bytes that are no text."""
    return quote(name, safe="", errors="surrogateescape")


def _query(**values: object) -> str:
    """The part of an address after the path; what is None is left out."""
    given = {name: value for name, value in values.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
