"""Conversations and messages of a run: list, page, plain text."""

from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from lawtrace.runs.report.message_view import describe_call, view_message
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.text import visible
from lawtrace.runs.report.transcript_diff import message_text
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    MessageQuery,
    conversation_messages,
    count_conversations,
    count_messages,
    find_conversations,
    find_message,
    request_behind,
)
from lawtrace.runs.store.model_usage import prices_of
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.page_frame import Pages
from lawtrace.runs.web.page_lists import PAGE_SIZE, Pagination, paginate, parameters, query_number
from lawtrace.schemas.errors import InputError


class ConversationPages(Pages):
    """The conversations and messages of a run."""

    def routes(self) -> list[Route]:
        return [
            Route("/runs/{run}/conversations", self.conversations),
            Route("/runs/{run}/conversations/{number:int}", self.conversation),
            Route("/runs/{run}/messages/{id}", self.message),
            Route("/runs/{run}/messages/{id}/request", self.request_sent),
        ]

    def conversations(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        asked = parameters(request, "stage", "task", "style", "role", "model", "text")
        wanted = MessageQuery(**asked)  # pyright: ignore[reportArgumentType]
        with EventLogFile.open(folder.path) as event_log:
            paging = paginate(request, count_conversations(event_log, wanted))
            found = find_conversations(event_log, wanted, limit=PAGE_SIZE, offset=paging.start)
            choices: dict[str, Any] = {
                "stages": _distinct(event_log, "stage"),
                "styles": _distinct(event_log, "style"),
                "models": _distinct(event_log, "tested_model"),
                "roles": _roles(event_log),
            }
        return self._frame.run_page(
            request,
            "conversations",
            "conversations",
            conversations=[(one, *_verdict(name, index, one.place)) for one in found],
            asked=asked,
            paging=paging,
            **choices,
        )

    def conversation(self, request: Request) -> Response:
        """A conversation, one page at a time; ``?at=ID`` shows the page with that message."""
        name, folder, index = self._frame.run(request)
        number: int = request.path_params["number"]
        with EventLogFile.open(folder.path) as event_log:
            found = find_conversations(event_log, MessageQuery(conversations=[number]))
            if not found:
                raise InputError(f"{folder.path}: there is no conversation {number}")
            conversation = found[0]
            at = find_message(event_log, request.query_params.get("at", ""))
            page = query_number(request, "page", 1) - 1
            if at is not None:
                page = count_messages(event_log, number, before=at.number) // PAGE_SIZE
            page = min(max(page, 0), max(0, (conversation.lines - 1) // PAGE_SIZE))
            messages = conversation_messages(event_log, number, limit=PAGE_SIZE, offset=page * PAGE_SIZE)
            judged, link = _verdict(name, index, conversation.place)
            before, after = _neighbours(event_log, number)
            prices = prices_of(event_log)
        return self._frame.run_page(
            request,
            "conversation",
            "conversations",
            below=str(number),
            conversation=conversation,
            messages=[
                (message, view_message(message.line), describe_call(message.call, prices)) for message in messages
            ],
            verdict=judged,
            verdict_link=link,
            causes=index.causes(judged.verdict) if judged and judged.verdict else [],
            at=at.id if at else None,
            before=before,
            after=after,
            paging=Pagination(page + 1, conversation.lines, conversation.lines > (page + 1) * PAGE_SIZE),
        )

    def message(self, request: Request) -> Response:
        """One message in full, as plain text."""
        _, folder, _ = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            found = find_message(event_log, request.path_params["id"])
        if found is None:
            raise InputError(f"{folder.path}: there is no message {request.path_params['id']!r}")
        return PlainTextResponse(message_text(found.line))

    def request_sent(self, request: Request) -> Response:
        """What the model was sent for a message, as plain text."""
        _, folder, _ = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            found = find_message(event_log, request.path_params["id"])
            sent = () if found is None else request_behind(event_log, found)
        if not sent:
            raise InputError(f"{folder.path}: no model was asked for a message {request.path_params['id']!r}")
        return PlainTextResponse("\n\n".join(f"[{one.role}]\n{visible(one.content)}" for one in sent))


def _verdict(run: str, index: VerdictIndex, place: ConversationKey) -> tuple[GradedUnit | None, str | None]:
    """The verdict on what was answered in a conversation, and the address of its page or list."""
    links, found = RunLinks(run), index.of_conversation(place)
    if found is None:
        return None, None
    link = links.attempts(task=found.task) if index.kind else links.attempt(found.number)
    return found, link


def _distinct(event_log: EventLogFile, column: Literal["stage", "style", "tested_model"]) -> list[str]:
    rows = event_log.rows(f"SELECT DISTINCT {column} FROM conversations WHERE {column} > '' ORDER BY {column}")  # noqa: S608
    return [row[0] for row in rows]


def _roles(event_log: EventLogFile) -> list[str]:
    """The roles with messages."""
    query = "SELECT DISTINCT role FROM entries WHERE kind IN ('message', 'failure') AND role > '' ORDER BY role"
    return [row[0] for row in event_log.rows(query)]


def _neighbours(event_log: EventLogFile, number: int) -> tuple[int | None, int | None]:
    before = event_log.rows("SELECT max(id) FROM conversations WHERE id < ?", (number,))[0][0]
    after = event_log.rows("SELECT min(id) FROM conversations WHERE id > ?", (number,))[0][0]
    return before, after
