import asyncio
import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawtrace.runs.store.event_log_database import EVENT_LOG_FILE
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_rows import MAX_REQUEST_CHARACTERS
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.log_entries import (
    CallRetried,
    Context,
    Entry,
    MessageSent,
    ModelCalled,
    RequestMessage,
    RequestSent,
    RoleFailed,
    RunResumed,
    StageFinished,
)

_WRITER = """
import sys
from pathlib import Path
from lawtrace.schemas.log_entries import Context, MessageSent
from lawtrace.runs.store.event_log_file import EventLogFile

event_log = EventLogFile.create(Path(sys.argv[1]), recipe=None)
for number in range(1_000_000):
    event_log.record(MessageSent(context=Context(stage="s", role="r", turn=number), source="r", content="x" * 500))
    print(number, flush=True)
"""

_FILLER = """
import resource, sys
from pathlib import Path
from lawtrace.schemas.log_entries import Context, MessageSent
from lawtrace.schemas.errors import OperationalError
from lawtrace.runs.store.event_log_file import EventLogFile

event_log = EventLogFile.create(Path(sys.argv[1]), recipe=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
written = 0
try:
    while True:
        here = Context(stage="s", role="r", turn=written)
        event_log.record(MessageSent(context=here, source="r", content="x" * 5000))
        written += 1
except OperationalError as error:
    print(written, error)
"""


def at_turn(message: MessageSent, turn: int) -> MessageSent:
    return message.model_copy(update={"context": message.context.at(turn=turn)})


def call(context: Context, answer: str, *, occurrence: int = 0, request_hash: str = "h") -> ModelCalled:
    return ModelCalled(
        context=context,
        request=(RequestMessage(role="user", content="hello"),),
        request_hash=request_hash,
        occurrence=occurrence,
        answer=answer,
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        latency_ms=12.5,
    )


def edit(event_log: EventLogFile, script: str) -> None:
    """Close the log, and change it as no lawtrace does."""
    event_log.close()
    with closing(sqlite3.connect(event_log.path)) as connection:
        connection.executescript(script)


def test_entries_round_trip(event_log: EventLogFile, context: Context, message: MessageSent) -> None:
    entries: list[Entry] = [
        message,
        call(context.at(model="openai:a", turn=1), "answer \ufffd ✓"),
        CallRetried(context=context, try_number=1, error="429", waited_seconds=0.5),
        RoleFailed(context=context, reason="answer", text="no JSON"),
        StageFinished(stage="tasks", file="tasks.jsonl", sha256="0" * 64, rows=3),
        RequestSent(context=context, request_hash="h", occurrence=2),
        RunResumed(in_flight=(context,)),
    ]
    for entry in entries:
        event_log.record(entry)
    assert list(event_log.entries()) == entries
    event_log.close()
    with EventLogFile.open(event_log.path.parent) as again:
        assert list(again.entries()) == entries
        assert again.recipe == {"seed": 7, "models": ["openai:a"]}


def test_entries_are_filtered_by_kind_and_role(event_log: EventLogFile, context: Context, message: MessageSent) -> None:
    other = message.model_copy(update={"context": context.at(task="task-2", role="masking_evaluator")})
    failure = RoleFailed(context=context, reason="deadline", text="late")
    for entry in (message, other, failure):
        event_log.record(entry)
    assert list(event_log.entries(kind="message")) == [message, other]
    assert list(event_log.entries(kind=("failure", "stage"))) == [failure]
    assert list(event_log.entries(kind="message", role="masking_evaluator")) == [other]
    assert list(event_log.entries(role="nobody")) == []


def test_timestamps_come_from_the_clock(event_log: EventLogFile, message: MessageSent) -> None:
    event_log.record(message)
    assert [at for at, _ in event_log.timed_entries()] == ["2025-06-01T12:00:00+00:00"]


def test_reading_during_writing(event_log: EventLogFile, message: MessageSent) -> None:
    event_log.record(message)
    with EventLogFile.open(event_log.path.parent) as reader:
        entries = reader.entries()
        assert next(entries) == message
        for turn in range(1, 601):  # more than a page
            event_log.record(at_turn(message, turn))
        assert len(list(entries)) >= 600 - 255
        assert len(list(reader.entries())) == 601
        event_log.close()  # with a reader in the way
    with EventLogFile.open(event_log.path.parent) as reader:
        assert len(list(reader.entries())) == 601


def test_a_closed_log_is_a_single_file(event_log: EventLogFile, message: MessageSent, tmp_path: Path) -> None:
    event_log.record(message)
    event_log.close()
    archive = tmp_path / "archive"
    archive.mkdir()
    shutil.copy(event_log.path, archive)
    with EventLogFile.open(archive) as copy:
        assert list(copy.entries()) == [message]
    assert [path.name for path in archive.iterdir()] == [EVENT_LOG_FILE]


def test_only_one_writer(event_log: EventLogFile, message: MessageSent) -> None:
    with pytest.raises(OperationalError, match="being written by another process"):
        EventLogFile.resume(event_log.path.parent)
    code = (
        "import sys; from pathlib import Path; from lawtrace.runs.store.event_log_file import EventLogFile; "
        "EventLogFile.resume(Path(sys.argv[1]))"
    )
    other = subprocess.run([sys.executable, "-c", code, str(event_log.path.parent)], capture_output=True, text=True)
    assert "being written by another process" in other.stderr
    event_log.record(message)
    event_log.close()
    with EventLogFile.resume(event_log.path.parent) as resumed:
        resumed.record(message.model_copy(update={"content": "more"}))
        assert [entry.kind for entry in resumed.entries()] == ["message", "resumed", "message"]


def test_a_reader_cannot_write(event_log: EventLogFile, message: MessageSent) -> None:
    with EventLogFile.open(event_log.path.parent) as reader, pytest.raises(OperationalError, match="reading only"):
        reader.record(message)


def test_concurrent_writers(event_log: EventLogFile, message: MessageSent) -> None:
    def write(part: int) -> None:
        for turn in range(50 * part, 50 * part + 50):
            event_log.record(at_turn(message, turn))

    threads = [threading.Thread(target=write, args=[part]) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(event_log.entries())) == 200


def test_a_killed_writer_loses_no_committed_entry(tmp_path: Path) -> None:
    run = tmp_path / "run"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(run)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for line in writer.stdout:
        if int(line) >= 300:
            break
    writer.send_signal(signal.SIGKILL)
    committed = [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()
    last = max(committed, default=300)
    with EventLogFile.open(run) as event_log:
        turns = [entry.context.turn for entry in event_log.entries() if isinstance(entry, MessageSent)]
    assert turns == list(range(len(turns)))
    assert len(turns) >= last + 1
    with EventLogFile.resume(run) as event_log:
        event_log.record(StageFinished(stage="s", file="f", sha256="", rows=0))
        assert len(list(event_log.entries())) == len(turns) + 2  # and that it was resumed


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files through the operating system")
def test_a_full_disk_is_reported_and_keeps_the_log_intact(tmp_path: Path) -> None:
    run = tmp_path / "run"
    filler = subprocess.run([sys.executable, "-c", _FILLER, str(run)], capture_output=True, text=True)
    assert "free some space, then `lawtrace resume" in filler.stdout, filler.stderr
    written = int(filler.stdout.split()[0])
    assert written > 0
    with EventLogFile.open(run) as event_log:
        assert len(list(event_log.entries())) == written


def test_create_refuses_an_existing_log(event_log: EventLogFile) -> None:
    event_log.close()
    with pytest.raises(InputError, match="lawtrace resume"):
        EventLogFile.create(event_log.path.parent, recipe=None)


def test_create_after_a_kill_during_creation(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / EVENT_LOG_FILE).close()
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.resume(tmp_path)
    with EventLogFile.create(tmp_path, recipe=None) as event_log:
        assert event_log.recipe is None


def test_other_files_are_refused(tmp_path: Path, event_log: EventLogFile) -> None:
    with pytest.raises(InputError, match="has no event log"):
        EventLogFile.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="has no event log"):
        EventLogFile.resume(tmp_path)
    (tmp_path / EVENT_LOG_FILE).write_text("some notes of mine, much longer than a header\n" * 100)
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.open(tmp_path)
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.resume(tmp_path)
    with pytest.raises(OperationalError, match="cannot make"):
        EventLogFile.create(tmp_path / EVENT_LOG_FILE / "below", recipe=None)


def test_a_refused_file_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / EVENT_LOG_FILE
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.open(tmp_path)
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.resume(tmp_path)
    with pytest.raises(InputError, match="not an event log"):
        EventLogFile.create(tmp_path, recipe=None)
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_log_is_reported_and_unchanged(event_log: EventLogFile, message: MessageSent, share: float) -> None:
    for turn in range(200):
        event_log.record(message.model_copy(update={"content": f"{turn} " * 200}))
    event_log.close()
    whole = event_log.path.read_bytes()
    event_log.path.write_bytes(whole[: int(len(whole) * share)])
    before = event_log.path.read_bytes()
    for opening in (EventLogFile.open, EventLogFile.resume):
        with pytest.raises(InputError, match="cut short"):
            opening(event_log.path.parent)
    assert event_log.path.read_bytes() == before


@pytest.mark.parametrize(("schema", "remedy"), [("5", "use that version"), ("99", "upgrade lawtrace")])
def test_another_schema_is_refused(event_log: EventLogFile, schema: str, remedy: str) -> None:
    edit(event_log, f"UPDATE meta SET value = {schema} WHERE key = 'schema_version'")
    with pytest.raises(InputError, match=remedy):
        EventLogFile.open(event_log.path.parent)


def test_a_log_of_an_earlier_schema_is_read_and_not_continued(event_log: EventLogFile, message: MessageSent) -> None:
    event_log.record(message)
    former = "CREATE TABLE earlier AS SELECT * FROM entries; DROP VIEW entries; ALTER TABLE earlier RENAME TO entries;"
    edit(event_log, f"{former} DROP TABLE logged; UPDATE meta SET value = '8' WHERE key = 'schema_version'")
    with EventLogFile.open(event_log.path.parent) as earlier:
        assert list(earlier.entries()) == [message]
    with pytest.raises(InputError, match="this one continues schema 9: use that version"):
        EventLogFile.resume(event_log.path.parent)


@pytest.mark.parametrize("edited", ["DELETE FROM meta", "UPDATE meta SET value = 'soon' WHERE key = 'schema_version'"])
def test_a_log_without_version_is_refused(event_log: EventLogFile, edited: str) -> None:
    edit(event_log, edited)
    with pytest.raises(InputError, match="no lawtrace version"):
        EventLogFile.open(event_log.path.parent)


def test_an_unreadable_recipe_is_reported(event_log: EventLogFile) -> None:
    edit(event_log, "UPDATE meta SET value = '{' WHERE key = 'recipe'")
    with (
        EventLogFile.open(event_log.path.parent) as edited,
        pytest.raises(InputError, match="its recipe cannot be read"),
    ):
        assert edited.recipe


@pytest.mark.parametrize("payload", ['{"kind": "dream"}', "[]", "[" * 100_000])
def test_an_unreadable_entry_is_named(event_log: EventLogFile, message: MessageSent, payload: str) -> None:
    event_log.record(message)
    edit(event_log, f"UPDATE logged SET own = '{payload}'")
    with (
        EventLogFile.open(event_log.path.parent) as damaged,
        pytest.raises(InputError, match="entry 1: cannot be read"),
    ):
        list(damaged.entries())


def test_a_text_that_stands_for_too_much_memory_is_refused(event_log: EventLogFile, context: Context) -> None:
    event_log.record(call(context.at(model="openai:a"), "x" * 200))
    bomb = zlib.compress(b"x" * (MAX_REQUEST_CHARACTERS + 1)).hex()
    edit(event_log, f"UPDATE texts SET text = x'{bomb}'")
    with (
        EventLogFile.open(event_log.path.parent) as edited,
        pytest.raises(InputError, match=r"entry 1: cannot be read .a text is damaged"),
    ):
        list(edited.entries())


PROMPT = "You are a lawyer.\n" + "Read the passages and answer the question. " * 5 + "\r\n\nThe passages:\n"
PASSAGES = [f"{number}. " + f"Passage {number} says what happened. " * 8 + "\n" for number in range(9)]


def test_what_long_texts_share_is_stored_once(event_log: EventLogFile, context: Context) -> None:
    prompts = [PROMPT + "".join(PASSAGES[one] for one in (first, other)) for first in range(9) for other in range(9)]
    for turn, prompt in enumerate(prompts):
        request = (RequestMessage(role="system", content=prompt),)
        event_log.record(call(context.at(model="m", turn=turn), "so").model_copy(update={"request": request}))
    calls = [entry for entry in event_log.entries() if isinstance(entry, ModelCalled)]
    assert [entry.request[0].content for entry in calls] == prompts
    ((size,),) = event_log.rows("SELECT sum(length(text)) FROM texts")
    assert size < len(prompts) * 40 + len(PASSAGES) * 100


@pytest.mark.parametrize("pieces", ["zeroblob(5)", "zeroblob(4)", "x'0001000000'", "x'00ffffffff'"])
def test_a_damaged_list_of_pieces_is_an_error(event_log: EventLogFile, context: Context, pieces: str) -> None:
    event_log.record(call(context.at(model="openai:a"), "x" * 200))
    edit(event_log, f"UPDATE texts SET text = {pieces}")
    with EventLogFile.open(event_log.path.parent) as edited, pytest.raises(InputError, match="entry 1: cannot be read"):
        list(edited.entries())


def test_a_request_that_follows_itself_ends(event_log: EventLogFile, context: Context) -> None:
    event_log.record(call(context.at(model="openai:a"), "answer"))
    edit(event_log, "UPDATE requests SET before = id")
    with EventLogFile.open(event_log.path.parent) as edited:
        (entry,) = edited.entries()
    assert isinstance(entry, ModelCalled)
    assert [message.content for message in entry.request] == ["hello"]


def test_answers_are_found_by_conversation_request_and_occurrence(event_log: EventLogFile, context: Context) -> None:
    a = context.at(model="openai:a")
    failed = RoleFailed(context=a, reason="deadline", text="late", request_hash="h", occurrence=0)
    event_log.record(failed)
    assert event_log.answer(a, "h", 0) == failed
    first, second = call(a, "first"), call(a, "second", occurrence=1)
    elsewhere = call(a.at(task=None, style=None, model="openai:b"), "elsewhere")
    for entry in (first, second, elsewhere):
        event_log.record(entry)
    assert event_log.answer(a, "h", 0) == first  # an answer takes precedence over an earlier failure
    assert event_log.answer(a.at(turn=5, tested_model="x"), "h", 1) == second
    assert event_log.answer(a.at(task=None, style=None), "h", 0) == elsewhere
    assert event_log.answer(a, "h", 2) is None
    for_x = call(a.at(tested_model="x"), "for x", occurrence=1)
    event_log.record(for_x)
    assert event_log.answer(a.at(tested_model="x"), "h", 1) == for_x
    of_variant = call(a.at(variant="v"), "of v")
    event_log.record(of_variant)
    assert event_log.answer(a.at(variant="v"), "h", 0) == of_variant
    assert event_log.answer(a.at(variant="w"), "h", 0) == first
    assert event_log.answer(a.at(role="executor"), "h", 0) is None
    assert [model.model for model in event_log.models(a.role)] == ["openai:a", "openai:b"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
REQUESTS = st.lists(
    st.builds(RequestMessage, role=st.sampled_from(["system", "user", "tool"]), content=TEXTS), max_size=4
)


# Generating the first text scans all of Unicode, which is slow on a busy machine.
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(REQUESTS, TEXTS), max_size=8))
def test_calls_round_trip_with_shared_prefixes(calls: list[tuple[list[RequestMessage], str]]) -> None:
    context = Context(stage="s", role="r")
    entries = [
        call(context.at(turn=turn), answer).model_copy(update={"request": tuple(request)})
        for turn, (request, answer) in enumerate(calls)
    ]
    with TemporaryDirectory() as folder, EventLogFile.create(Path(folder), recipe=None) as event_log:
        for entry in entries:
            event_log.record(entry)
        assert list(event_log.entries()) == entries
        assert [entry.model_dump_json() for entry in event_log.entries()] == [one.model_dump_json() for one in entries]


def test_storage_grows_linearly_with_conversation_length(event_log: EventLogFile, context: Context) -> None:
    said: list[RequestMessage] = []
    for turn in range(120):
        said.append(RequestMessage(role="user", content=f"{turn} " + "x" * 1000))
        event_log.record(call(context.at(turn=turn), f"answer {turn}").model_copy(update={"request": tuple(said)}))
    last = list(event_log.answered())[-1]
    assert last.request == tuple(said)
    event_log.close()
    assert event_log.path.stat().st_size < 120 * 1000 * 4  # whole requests would be 7 MB


def test_cancelled_calls_are_in_flight(event_log: EventLogFile, context: Context) -> None:
    for reason in ("cancelled", "deadline"):
        event_log.record(RequestSent(context=context, request_hash=reason, occurrence=0))
        event_log.record(RoleFailed(context=context, reason=reason, text="", request_hash=reason, occurrence=0))
    assert len(event_log.in_flight()) == 1


def test_unanswered_calls_are_in_flight(event_log: EventLogFile, context: Context) -> None:
    def asked(turn: int) -> RequestSent:
        return RequestSent(context=context.at(turn=turn), request_hash=f"h{turn}", occurrence=0)

    for turn in range(4):
        event_log.record(asked(turn))
    event_log.record(call(context.at(turn=0), "yes", request_hash="h0"))
    event_log.record(
        RoleFailed(context=context.at(turn=1), reason="deadline", text="", request_hash="h1", occurrence=0)
    )
    assert [place.turn for place in event_log.in_flight()] == [2, 3]
    event_log.close()
    with EventLogFile.resume(event_log.path.parent) as resumed:
        (noted,) = resumed.entries(kind="resumed")
        assert isinstance(noted, RunResumed)
        assert [place.turn for place in noted.in_flight] == [2, 3]
        resumed.record(asked(1))
        resumed.record(call(context.at(turn=2), "yes", request_hash="h2"))
        assert [place.turn for place in resumed.in_flight()] == [1]


async def test_concurrent_callers_share_a_flush(
    event_log: EventLogFile, message: MessageSent, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    fsync = os.fsync

    def count(file: int) -> None:
        flushed.append(file)
        fsync(file)

    monkeypatch.setattr(os, "fsync", count)
    await event_log.flush()
    assert flushed == []  # the log is still empty
    for _ in range(3):
        event_log.record(message)
    await asyncio.gather(*(event_log.flush() for _ in range(100)))
    assert len(flushed) == 1
    event_log.record(message)
    await event_log.flush()
    assert len(flushed) == 2


async def test_a_failed_flush_stops_the_run(
    event_log: EventLogFile, message: MessageSent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    event_log.record(message)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OperationalError, match="free some space"):
            await event_log.flush()
    await event_log.flush()
