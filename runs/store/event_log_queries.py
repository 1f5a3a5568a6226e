"""Queries on an event log: conversations and messages by conversation key, role, turn and text, with paging."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_rows import COLUMNS, KEY
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import MessageSent, ModelCalled, RequestMessage, RoleFailed, conversation_id

LogLine = MessageSent | RoleFailed


@dataclass(frozen=True, slots=True)
class ConversationKey:
    """The key of a conversation: the fields of `Context` except role, model and turn."""

    stage: str
    task: str | None = None
    unit: str | None = None
    style: str | None = None
    conversation_kind: str | None = None
    tested_model: str | None = None
    trial: int = 0
    variant: str | None = None

    @property
    def id(self) -> str:
        """The id of the conversation (see `Context.conversation_id`)."""
        return conversation_id(asdict(self))


@dataclass(frozen=True, slots=True)
class LoggedConversation:
    """A conversation of the log: row id, key and number of messages."""

    id: int
    place: ConversationKey
    lines: int


@dataclass(frozen=True, slots=True)
class CallFigures:
    """The model call behind a message.

    Attributes:
        number: the entry number of the call.
        at: when it was answered (ISO 8601).
        seconds: from the start of the call to its answer, with retries; ``queued``: before that, for a free slot.
        tries: how often the request was sent.
        paid: whether an endpoint answered in this run.
        replayed: whether the answer came from another event log.
    """

    number: int
    at: str
    model: str | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    queued: float = 0.0
    tries: int = 1
    paid: bool = False
    replayed: bool = False

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Its cost in this run; None without a price of its model."""
        price = prices.get(self.model or "")
        if price is None:
            return None
        return price.of(self.prompt_tokens, self.completion_tokens) if self.paid and not self.replayed else 0.0


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message or failure: entry number, conversation id, time (ISO 8601), the entry, and the model call behind it."""

    number: int
    conversation: int
    at: str
    line: LogLine
    call: CallFigures | None = None

    @property
    def id(self) -> str:
        """The id of the message. A failure has none; its entry number is used."""
        return self.line.id if isinstance(self.line, MessageSent) else str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQuery:
    """A filter on conversations and messages. None matches everything.

    Attributes:
        model: the model under test, or a model that wrote a message of the conversation.
        text: words of the message, each matched as a prefix, in any order and case.
        conversations: row ids of the conversations to search.
    """

    stage: str | None = None
    task: str | None = None
    unit: str | None = None
    style: str | None = None
    conversation_kind: str | None = None
    tested_model: str | None = None
    model: str | None = None
    trial: int | None = None
    variant: str | None = None
    role: str | None = None
    turn: int | None = None
    text: str | None = None
    conversations: Sequence[int] | None = None


ANY_MESSAGE = MessageQuery()
SHOWN_VALUES = 12


def find_conversations(
    event_log: EventLogFile, wanted: MessageQuery = ANY_MESSAGE, *, limit: int = -1, offset: int = 0
) -> Sequence[LoggedConversation]:
    """The conversations in the order in which they began. Raises InputError for a text without words."""
    rows = event_log.rows(
        f"SELECT id, {', '.join(KEY)}, (SELECT count(*) FROM entries"  # noqa: S608
        " WHERE conversation = conversations.id AND kind IN ('message', 'failure')) FROM conversations"
        f" WHERE {' AND '.join(_conversation_clauses(wanted))} ORDER BY id LIMIT :limit OFFSET :offset",
        _values(wanted, limit=limit, offset=offset),
    )
    return [LoggedConversation(row[0], ConversationKey(*row[1:9]), row[9]) for row in rows]


def unknown_value(event_log: EventLogFile, wanted: MessageQuery) -> str | None:
    """The first filter whose value the log does not have, in words, with the values that it has."""
    for name in ("stage", "task", "unit", "style", "trial", "variant", "role", "model"):
        value = getattr(wanted, name)
        if value is None:
            continue
        written = "SELECT DISTINCT payload ->> '$.context.model' FROM entries WHERE kind IN ('message', 'failure')"
        query = {
            "role": "SELECT DISTINCT role FROM entries WHERE kind IN ('message', 'failure')",
            "model": f"SELECT DISTINCT tested_model FROM conversations UNION {written}",  # noqa: S608
        }.get(name, f"SELECT DISTINCT {name} FROM conversations")  # noqa: S608
        there = sorted(str(row[0]) for row in event_log.rows(query) if row[0] is not None)
        if str(value) not in there:
            shown = [*difflib.get_close_matches(str(value), there, SHOWN_VALUES, 0.5), *there]
            listed = ", ".join([*dict.fromkeys(shown)][:SHOWN_VALUES]) or "none"
            return f"no {name} {str(value)!r}; there is {listed}{', ...' if len(there) > SHOWN_VALUES else ''}"
    return None


def conversation_numbers(event_log: EventLogFile, names: Iterable[str]) -> dict[str, int]:
    """Id -> row id of the conversations with these ids, without those that the log does not have."""
    query = "SELECT name, id FROM conversations WHERE name IN (SELECT value FROM json_each(?))"
    return dict(event_log.rows(query, (json.dumps(list(names)),)))


def find_message(event_log: EventLogFile, message_id: str) -> LoggedMessage | None:
    """The message with this id (see `LoggedMessage.id`), if there is one."""
    if message_id.isascii() and message_id.isdigit() and len(message_id) < 20:
        found = _select_messages(event_log, ["seq = :number"], {"number": int(message_id), "limit": 1, "offset": 0})
    else:
        name, _, turn = message_id.rpartition("-")
        of_conversation = "conversation = (SELECT id FROM conversations WHERE name = :name)"
        clauses = [of_conversation, "turn = :turn", "kind = 'message'"]
        found = _select_messages(event_log, clauses, {"name": name, "turn": turn, "limit": 1, "offset": 0})
    return found[0] if found and found[0].id == message_id else None


def count_messages(event_log: EventLogFile, conversation: int, *, before: int) -> int:
    """Number of messages of a conversation before an entry number."""
    query = "SELECT count(*) FROM entries WHERE conversation = ? AND kind IN ('message', 'failure') AND seq < ?"
    return event_log.rows(query, (conversation, before))[0][0]


def count_conversations(event_log: EventLogFile, wanted: MessageQuery = ANY_MESSAGE) -> int:
    query = f"SELECT count(*) FROM conversations WHERE {' AND '.join(_conversation_clauses(wanted))}"  # noqa: S608
    return event_log.rows(query, _values(wanted))[0][0]


def conversation_messages(
    event_log: EventLogFile, conversation: int, wanted: MessageQuery = ANY_MESSAGE, *, limit: int = -1, offset: int = 0
) -> Sequence[LoggedMessage]:
    """The messages of a conversation in order, filtered by role, turn and text."""
    clauses = ["conversation = :conversation", *_message_clauses(wanted)]
    return _select_messages(event_log, clauses, _values(wanted, conversation=conversation, limit=limit, offset=offset))


def find_messages(
    event_log: EventLogFile, wanted: MessageQuery = ANY_MESSAGE, *, after: int = 0
) -> Sequence[LoggedMessage]:
    """The messages of all conversations in recorded order, after an entry number."""
    clauses = ["seq > :after", *_message_clauses(wanted)]
    if of_place := _key_clauses(wanted):
        clauses.append(f"conversation IN (SELECT id FROM conversations WHERE {' AND '.join(of_place)})")  # noqa: S608
    return _select_messages(event_log, clauses, _values(wanted, after=after, limit=-1, offset=0))


def _select_messages(
    event_log: EventLogFile, clauses: Iterable[str], values: Mapping[str, object]
) -> list[LoggedMessage]:
    """``values``: by the names in the clauses, with ``limit`` and ``offset``."""
    where = " AND ".join(["kind IN ('message', 'failure')", *clauses])
    query = f"SELECT {COLUMNS} FROM entries WHERE {where} ORDER BY seq LIMIT :limit OFFSET :offset"  # noqa: S608
    rows = event_log.rows(query, values)
    calls = _calls_behind(event_log, [row[0] for row in rows])
    return [
        LoggedMessage(row[0], row[3], row[1], line, calls.get(row[0]))
        for row in rows
        if isinstance(line := event_log.entry(row), MessageSent | RoleFailed)
    ]


def _calls_behind(event_log: EventLogFile, messages: Sequence[int]) -> dict[int, CallFigures]:
    """The model calls behind messages, by the entry number of the message."""
    rows = event_log.rows(
        "SELECT said.seq, call.seq, call.at, call.payload ->> '$.context.model',"
        " coalesce(call.payload ->> '$.prompt_tokens', 0), coalesce(call.payload ->> '$.completion_tokens', 0),"
        " coalesce(call.payload ->> '$.latency_ms', 0) / 1000.0, coalesce(call.payload ->> '$.queued_ms', 0) / 1000.0,"
        " (SELECT count(*) + 1 FROM entries AS again WHERE again.conversation = call.conversation"
        " AND again.kind = 'retry' AND again.role = call.role AND again.turn = call.turn),"
        " call.payload ->> '$.paid', call.payload ->> '$.replayed'"
        " FROM entries AS said JOIN entries AS call ON call.hash = said.hash"
        " AND call.occurrence = said.occurrence AND call.conversation = said.conversation"
        " AND call.kind IN ('model_call', 'failure')"
        " WHERE said.seq IN (SELECT value FROM json_each(?)) ORDER BY call.kind = 'model_call', call.seq",
        (json.dumps(list(messages)),),
    )
    return {row[0]: CallFigures(*row[1:9], paid=bool(row[9]), replayed=bool(row[10])) for row in rows}


def request_behind(event_log: EventLogFile, message: LoggedMessage) -> Sequence[RequestMessage]:
    """What the model was sent for a message; nothing for a message from code or a call without an answer."""
    if message.call is None:
        return ()
    rows = event_log.rows(f"SELECT {COLUMNS} FROM entries WHERE seq = ?", (message.call.number,))  # noqa: S608
    entry = event_log.entry(rows[0])
    return entry.request if isinstance(entry, ModelCalled) else ()


def _conversation_clauses(wanted: MessageQuery) -> list[str]:
    of_line = _message_clauses(wanted)
    if wanted.text is not None and wanted.role is None and wanted.turn is None:
        # Start from the matching messages: they are few, conversations may be many.
        return [*_key_clauses(wanted), f"id IN (SELECT conversation FROM entries WHERE {of_line[0]})"]  # noqa: S608
    # A conversation may have calls only, and no message yet.
    said = " AND ".join(["conversation = conversations.id", "kind IN ('message', 'failure')", *of_line])
    return [*_key_clauses(wanted), f"EXISTS (SELECT 1 FROM entries WHERE {said})"]  # noqa: S608


def _key_clauses(wanted: MessageQuery) -> list[str]:
    clauses = [f"{column} = :{column}" for column in KEY if getattr(wanted, column) is not None]
    if wanted.model is not None:
        written = "SELECT conversation FROM entries WHERE kind IN ('message', 'failure')"
        clauses.append(f"(tested_model = :model OR id IN ({written} AND payload ->> '$.context.model' = :model))")
    if wanted.conversations is not None:
        clauses.append("id IN (SELECT value FROM json_each(:conversations))")
    return clauses


def _message_clauses(wanted: MessageQuery) -> list[str]:
    clauses = [f"{column} = :{column}" for column in ("role", "turn") if getattr(wanted, column) is not None]
    if wanted.text is not None:
        clauses.insert(0, "seq IN (SELECT rowid FROM words WHERE words MATCH :text)")
    return clauses


def _values(wanted: MessageQuery, **others: object) -> dict[str, object]:
    """The values of the names in clauses. Raises InputError for a text without words."""
    text = None if wanted.text is None else _fts_query(wanted.text)
    return {**asdict(wanted), "text": text, "conversations": json.dumps([*(wanted.conversations or ())]), **others}


def _fts_query(text: str) -> str:
    """An FTS5 query for all words as prefixes, quoted so that no word is read as an operator."""
    words = re.findall(r"[^\W_]+", text)
    if not words:
        raise InputError(f"no word to search for in {text!r}: give letters or digits")
    return " AND ".join(f'"{word}"*' for word in words)
