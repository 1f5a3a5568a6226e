"""The viewer's pages: functions from a request to a template and its values. Read-only."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from lawtrace.environments.errors import InputError, LawtraceError
from lawtrace.runs.report.attempt_view import view_attempt, view_judged_task
from lawtrace.runs.report.graded_units import GradedIndex, compare_folders, find_conversation_numbers
from lawtrace.runs.report.message_view import describe_call, view_message
from lawtrace.runs.report.run_comparison import RunComparison
from lawtrace.runs.report.run_index import RunIndex, TaskIndex
from lawtrace.runs.report.run_kinds import GradedUnit, identify, outcome_labels
from lawtrace.runs.report.run_progress import measure_progress
from lawtrace.runs.report.sections import PAGES
from lawtrace.runs.report.summary import OutcomeLine, verdict_table
from lawtrace.runs.report.table_files import FILE_NAME
from lawtrace.runs.report.tables import Table
from lawtrace.runs.report.task_view import AttemptMark, TaskIndexRow
from lawtrace.runs.report.text import visible
from lawtrace.runs.report.transcript_diff import diff_conversations, message_text
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary
from lawtrace.runs.scoring.metrics import OutcomeCounts
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    LoggedConversation,
    LoggedMessage,
    MessageQuery,
    conversation_messages,
    count_conversations,
    count_messages,
    find_conversations,
    find_message,
    find_messages,
    request_behind,
)
from lawtrace.runs.store.model_usage import prices_of
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.export import TABLES
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.render import SCRIPT, make_environment, render, render_css, render_sections
from lawtrace.runs.web.run_reports import RunReports, report_pages

PAGE_SIZE = 50
MOST_CARDS = 200
"""Maximum number of attempts on the page of a task."""


@dataclass(frozen=True, slots=True)
class Pagination:
    """The position in a long list. ``total`` is None where counting would be slow."""

    page: int
    total: int | None
    more: bool

    @property
    def pages(self) -> int | None:
        return None if self.total is None else max(1, -(-self.total // PAGE_SIZE))


class RunPages:
    """The pages of all runs of an index."""

    def __init__(self, index: RunIndex) -> None:
        self._index = index
        self._reports = RunReports(index)
        self._environment = make_environment()

    def routes(self) -> list[Route]:
        return [
            Route("/", self.runs),
            Route("/compare", self.compare),
            Route("/static/site.css", self.css),
            Route("/static/site.js", self.script),
            Route("/runs/{run}/", self.run),
            Route("/runs/{run}/progress", self.progress),
            *(Route(f"/runs/{{run}}/{page}", self.sections, name=page) for page in PAGES),
            Route("/runs/{run}/attempts", self.attempts),
            Route("/runs/{run}/attempts/{number:int}", self.attempt),
            Route("/runs/{run}/tasks", self.tasks),
            Route("/runs/{run}/tasks/{number:int}", self.task),
            Route("/runs/{run}/conversations", self.conversations),
            Route("/runs/{run}/conversations/{number:int}", self.conversation),
            Route("/runs/{run}/messages/{id}", self.message),
            Route("/runs/{run}/messages/{id}/request", self.request_sent),
            Route("/runs/{run}/search", self.search),
            Route("/runs/{run}/tables/{file}", self.table),
            Route("/runs/{run}/variants/{variant:int}/tables/{file}", self.table),
            Route("/runs/{run}/report.html", self.report),
            Route("/runs/{run}/variants/{variant:int}/report.html", self.report),
        ]

    def error_handlers(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def lawtrace_error(_: Request, error: LawtraceError) -> Response:
            return self._error(str(error), 404 if isinstance(error, InputError) else 500)

        def http_error(request: Request, error: HTTPException) -> Response:
            return self._error(f"{error.detail}: {request.url.path}", error.status_code)

        return {LawtraceError: lawtrace_error, HTTPException: http_error}

    def runs(self, request: Request) -> Response:
        names = self._index.names()
        paging, start = _paginate(request, len(names))
        lines = [self._index.line(name) for name in names[start : start + PAGE_SIZE]]
        root = str(self._index.root)
        return self._page("runs", provenance=[], lines=lines, names=names, root=root, paging=paging)

    def run(self, request: Request) -> Response:
        name, folder, verdicts = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            return self._run_page(
                name,
                "run",
                progress=measure_progress(folder, event_log, verdicts),
                recipe=event_log.recipe,
                created=event_log.created,
                has_report=folder.report.exists(),
                tables=_verdict_tables(verdicts.verdicts),
                broken=Counter(rule for verdict in verdicts.verdicts for rule in verdict.broken).most_common(),
                graded=self._index.graded(name),
            )

    def progress(self, request: Request) -> Response:
        """The part of a run page that changes while the run is in progress."""
        name, folder, verdicts = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            progress = measure_progress(folder, event_log, verdicts)
        html = render(self._environment, "parts/progress.html.jinja", progress=progress, links=RunLinks(name))
        return _html(html)

    def sections(self, request: Request) -> Response:
        """A page of sections of the report."""
        name, page = request.path_params["run"], request.url.path.rpartition("/")[2]
        report = self._reports.load(name)
        links = RunLinks(name, with_tables=(self._index.folder(name).path / TABLES).is_dir())
        environment = make_environment(*report.template_folders) if report.template_folders else self._environment
        return self._run_page(
            name,
            "sections",
            page,
            title=PAGES[page],
            notices=report.notices,
            problems=report.problems,
            sections=render_sections(environment, report.of_page(page), links),
        )

    def attempts(self, request: Request) -> Response:
        name, folder, index = self._run(request)
        if graded := self._index.graded(name):
            return self._graded(request, name, folder, graded)
        asked = _parameters(request, "outcome", "rule", "task", "style", "model", "variant")
        found = index.select(**asked)
        paging, start = _paginate(request, len(found))
        return self._run_page(
            name,
            "attempts",
            "attempts",
            verdicts=found[start : start + PAGE_SIZE],
            asked=asked,
            paging=paging,
            models=sorted({verdict.contender for verdict in index.verdicts}),
            variants=_variants(index),
            rules=sorted({rule for verdict in index.verdicts for rule in verdict.broken}),
        )

    def _graded(self, request: Request, name: str, folder: RunFolder, index: GradedIndex) -> Response:
        """The list of the answers of a run of another kind."""
        asked = _parameters(request, "outcome", "task", "unit", "model")
        found = index.select(**asked)
        paging, start = _paginate(request, len(found))
        shown = found[start : start + PAGE_SIZE]
        with EventLogFile.open(folder.path) as event_log:
            numbers = find_conversation_numbers(event_log, shown)
        return self._run_page(
            name,
            "graded",
            "attempts",
            found=shown,
            numbers=numbers,
            asked=asked,
            paging=paging,
            kind=index.kind,
            models=list(index.counts()),
            units=list(dict.fromkeys(unit.unit for unit in index.units)),
        )

    def attempt(self, request: Request) -> Response:
        name, folder, index = self._run(request)
        number: int = request.path_params["number"]
        if number >= len(index.verdicts):
            raise InputError(f"there is no attempt number {number + 1}; the run has {len(index.verdicts)}")
        verdict, tasks = index.verdicts[number], self._index.tasks(name)
        task_number = tasks.numbers.get((verdict.variant, verdict.task))
        if task_number is None:
            raise InputError(f"{folder.path}: there is no task {verdict.task!r}")
        task = tasks.row(task_number)
        with EventLogFile.open(folder.path) as event_log:
            view = view_attempt(event_log, index, verdict, task)
        return self._run_page(
            name, "attempt", "attempts", below=f"{number + 1}", view=view, task=task, task_number=task_number
        )

    def tasks(self, request: Request) -> Response:
        name, _, index = self._run(request)
        tasks = self._index.tasks(name)
        paging, start = _paginate(request, len(tasks.lines))
        shown = range(start, min(start + PAGE_SIZE, len(tasks.lines)))
        models = list(dict.fromkeys(verdict.contender for verdict in index.verdicts))
        return self._run_page(
            name, "tasks", "tasks", rows=_task_rows(tasks, index, shown), models=models, paging=paging
        )

    def task(self, request: Request) -> Response:
        name, folder, index = self._run(request)
        number: int = request.path_params["number"]
        tasks = self._index.tasks(name)
        task = tasks.row(number)
        variant = tasks.lines[number].variant
        attempts = index.select(task=task.id, variant=variant)
        with EventLogFile.open(folder.path) as event_log:
            conversations = find_conversations(event_log, MessageQuery(task=task.id), limit=PAGE_SIZE)
        return self._run_page(
            name,
            "task",
            "tasks",
            below=task.id,
            view=view_judged_task(index, attempts[:MOST_CARDS], task),
            number=number,
            last=len(tasks.lines) - 1,
            variant=variant,
            more=len(attempts) if len(attempts) > MOST_CARDS else 0,
            conversations=[one for one in conversations if one.place.stage != "attempts"],
        )

    def conversations(self, request: Request) -> Response:
        name, folder, index = self._run(request)
        asked = _parameters(request, "stage", "task", "style", "role", "model", "text")
        wanted = MessageQuery(**asked)  # pyright: ignore[reportArgumentType]
        with EventLogFile.open(folder.path) as event_log:
            paging, start = _paginate(request, count_conversations(event_log, wanted))
            found = find_conversations(event_log, wanted, limit=PAGE_SIZE, offset=start)
            stages = [row[0] for row in event_log.rows("SELECT DISTINCT stage FROM conversations ORDER BY stage")]
        return self._run_page(
            name,
            "conversations",
            "conversations",
            conversations=[(one, *self._verdict(name, index, one.place)) for one in found],
            asked=asked,
            stages=stages,
            paging=paging,
        )

    def conversation(self, request: Request) -> Response:
        """A conversation, one page at a time; ``?at=ID`` shows the page with that message."""
        name, folder, index = self._run(request)
        number: int = request.path_params["number"]
        with EventLogFile.open(folder.path) as event_log:
            found = find_conversations(event_log, MessageQuery(conversations=[number]))
            if not found:
                raise InputError(f"{folder.path}: there is no conversation {number}")
            conversation = found[0]
            at = find_message(event_log, request.query_params.get("at", ""))
            page = _number(request, "page", 1) - 1
            if at is not None:
                page = count_messages(event_log, number, before=at.number) // PAGE_SIZE
            page = min(max(page, 0), max(0, (conversation.lines - 1) // PAGE_SIZE))
            messages = conversation_messages(event_log, number, limit=PAGE_SIZE, offset=page * PAGE_SIZE)
            verdict = index.of_conversation(conversation.place)
            judged, link = self._verdict(name, index, conversation.place)
            before, after = _neighbours(event_log, number)
            prices = prices_of(event_log)
        return self._run_page(
            name,
            "conversation",
            "conversations",
            below=str(number),
            conversation=conversation,
            messages=[
                (message, view_message(message.line), describe_call(message.call, prices)) for message in messages
            ],
            verdict=judged,
            verdict_link=link,
            causes=index.causes(verdict) if verdict else [],
            at=at.id if at else None,
            before=before,
            after=after,
            paging=Pagination(page + 1, conversation.lines, conversation.lines > (page + 1) * PAGE_SIZE),
        )

    def message(self, request: Request) -> Response:
        """One message in full, as plain text."""
        _, folder, _ = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            found = find_message(event_log, request.path_params["id"])
        if found is None:
            raise InputError(f"{folder.path}: there is no message {request.path_params['id']!r}")
        return PlainTextResponse(message_text(found.line))

    def request_sent(self, request: Request) -> Response:
        """What the model was sent for a message, as plain text."""
        _, folder, _ = self._run(request)
        with EventLogFile.open(folder.path) as event_log:
            found = find_message(event_log, request.path_params["id"])
            sent = () if found is None else request_behind(event_log, found)
        if not sent:
            raise InputError(f"{folder.path}: no model was asked for a message {request.path_params['id']!r}")
        return PlainTextResponse("\n\n".join(f"[{one.role}]\n{visible(one.content)}" for one in sent))

    def search(self, request: Request) -> Response:
        name, folder, _ = self._run(request)
        text = request.query_params.get("text", "").strip()
        role = request.query_params.get("role") or None
        page, error = max(1, _number(request, "page", 1)), ""
        messages: Sequence[LoggedMessage] = ()
        conversations: dict[int, LoggedConversation] = {}
        with EventLogFile.open(folder.path) as event_log:
            if text:
                try:
                    wanted = MessageQuery(text=text, role=role)
                    messages = find_messages(event_log, wanted, limit=PAGE_SIZE + 1, offset=(page - 1) * PAGE_SIZE)
                except InputError as invalid:
                    error = str(invalid)
            numbers = list(dict.fromkeys(message.conversation for message in messages))
            conversations = {one.id: one for one in find_conversations(event_log, MessageQuery(conversations=numbers))}
        return self._run_page(
            name,
            "search",
            below="Search",
            text=text,
            role=role,
            error=error,
            found=[
                (message, conversations[message.conversation], _excerpt(message_text(message.line), text))
                for message in messages[:PAGE_SIZE]
            ],
            paging=Pagination(page, None, len(messages) > PAGE_SIZE),
        )

    def compare(self, request: Request) -> Response:
        """Two runs: attempts with different outcomes, and conversations that differ."""
        names = [request.query_params.get(side, "") for side in ("first", "second")]
        first, second = (self._index.folder(name) for name in names)
        comparison: RunComparison | None = None
        error = ""
        try:
            comparison = compare_folders(first.path, second.path)
        except InputError as invalid:
            error = str(invalid)
        page = max(1, _number(request, "page", 1))
        with EventLogFile.open(first.path) as one, EventLogFile.open(second.path) as other:
            start = (page - 1) * PAGE_SIZE
            found = list(islice(diff_conversations(one, other, MessageQuery()), start, start + PAGE_SIZE + 1))
        return self._page(
            "compare",
            provenance=[("/", "Runs")],
            names=names,
            run_links=[RunLinks(name) for name in names],
            comparison=comparison,
            error=error,
            diffs=found[:PAGE_SIZE],
            paging=Pagination(page, None, len(found) > PAGE_SIZE),
        )

    def report(self, request: Request) -> Response:
        """The report file. It has its own content policy; this header revokes the permissions of viewer pages."""
        folder = self._index.folder(request.path_params["run"])
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        if not folder.report.exists():
            raise InputError(f"{folder.path}: the run has no report yet")
        policy = "sandbox allow-scripts allow-popups; frame-ancestors 'none'; connect-src 'none'; form-action 'none'"
        return FileResponse(folder.report, headers={"content-security-policy": policy})

    def table(self, request: Request) -> Response:
        """A table or figure of the report as a file, as plain text: browsers show it or save it."""
        folder, file = self._index.folder(request.path_params["run"]), request.path_params["file"]
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        path = folder.path / TABLES / file
        if not FILE_NAME.fullmatch(file) or not path.is_file():
            raise InputError(f"{folder.path}: there is no table {file!r}; `lawtrace report` writes the tables of a run")
        kind = "image/svg+xml" if file.endswith(".svg") else "text/plain"
        return FileResponse(path, media_type=kind)

    def css(self, request: Request) -> Response:
        return Response(render_css(self._environment, outcome_labels()), media_type="text/css")

    def script(self, request: Request) -> Response:
        return FileResponse(SCRIPT, media_type="text/javascript")

    def _run(self, request: Request) -> tuple[str, RunFolder, VerdictIndex]:
        name = request.path_params["run"]
        return name, self._index.folder(name), self._index.verdicts(name)

    def _verdict(
        self, run: str, index: VerdictIndex, place: ConversationKey
    ) -> tuple[VerdictSummary | GradedUnit | None, str | None]:
        """The verdict on what was answered in a conversation, and the address of its page or list."""
        links, graded = RunLinks(run), self._index.graded(run)
        unit = graded.of_conversation(place) if graded else None
        if unit is not None:
            return unit, links.attempts(task=unit.task)
        verdict = index.of_conversation(place)
        return verdict, links.attempt(verdict.number) if verdict else None

    def _run_page(self, run: str, template: str, tab: str = "", *, below: str = "", **values: Any) -> Response:  # noqa: ANN401
        """A page of a run. ``below``: name of a page one level below its tab."""
        links = RunLinks(run)
        pages = {page: PAGES[page] for page in report_pages(self._index.folder(run))}
        lists = {"attempts": "Answers"} if self._index.graded(run) else {"tasks": "Tasks", "attempts": "Attempts"}
        tabs = {"": "Run", **pages, **lists, "conversations": "Conversations"}
        provenance = [("/", "Runs")]
        if tab or below:
            provenance.append((links.page(), run))
        if tab and below:
            provenance.append((links.page(tab), tabs[tab]))
        with EventLogFile.open(self._index.folder(run).path) as event_log:
            identity = identify(event_log)
        shown: dict[str, Any] = {"links": links, "tabs": tabs, "tab": tab, "identity": identity, **values}
        return self._page(template, provenance=provenance, run=run, **shown)

    def _error(self, text: str, status: int) -> Response:
        return self._page("error", status=status, provenance=[("/", "Runs")], text=text)

    def _page(self, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        return _html(render(self._environment, f"pages/{template}.html.jinja", **values), status)


def _html(text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)


def _verdict_tables(verdicts: Sequence[VerdictSummary]) -> dict[str, Table]:
    """A table for the run, or for each variant of an ablation, from the verdicts so far."""
    counts: dict[str | None, dict[tuple[str, str], Counter[Any]]] = {}
    for verdict in verdicts:
        groups = counts.setdefault(verdict.variant, {})
        groups.setdefault((verdict.contender, verdict.style), Counter())[verdict.outcome] += 1
    return {
        variant or "": verdict_table(
            [
                OutcomeLine("", model, model, cast("Any", style), (), OutcomeCounts(of, of.total()), None, variant)
                for (model, style), of in groups.items()
            ],
            title=variant or "All tasks",
        )
        for variant, groups in counts.items()
    }


def _task_rows(tasks: TaskIndex, index: VerdictIndex, shown: range) -> list[TaskIndexRow]:
    marks: dict[int, dict[tuple[str, str], list[AttemptMark]]] = {number: {} for number in shown}
    for verdict in index.verdicts:
        number = tasks.numbers.get((verdict.variant, verdict.task))
        if number in marks:
            cell = marks[number].setdefault((verdict.contender, verdict.style), [])
            cell.append(AttemptMark(verdict.outcome, verdict.number))
    lines = tasks.lines
    return [
        TaskIndexRow(
            f"{lines[number].variant}: {lines[number].id}" if lines[number].variant else lines[number].id,
            number,
            lines[number].excerpt,
            marks[number],
        )
        for number in shown
    ]


def _variants(index: VerdictIndex) -> list[str]:
    return list(dict.fromkeys(verdict.variant for verdict in index.verdicts if verdict.variant))


def _parameters(request: Request, *names: str) -> dict[str, str | None]:
    return {name: request.query_params.get(name) or None for name in names}


def _paginate(request: Request, total: int) -> tuple[Pagination, int]:
    """The requested page, and the index of its first item."""
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
    """The text before the first hit, the hit, and the text after it."""
    hits = (re.search(re.escape(word), words, re.IGNORECASE) for word in re.findall(r"[^\W_]+", text))
    start, end = next((hit.span() for hit in hits if hit), (0, 0))
    return ("…" if start > 100 else "") + words[max(0, start - 100) : start], words[start:end], words[end : end + 200]
