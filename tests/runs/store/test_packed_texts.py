import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.runs.store.event_log_database import SCHEMA
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.packed_texts import TextReader, TextWriter
from lawtrace.schemas.errors import InputError

PASSAGE = "The controller did not test its own measures before the incident, and no one asked why this was so. " * 3


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA + "COMMIT;")
    yield connection
    connection.close()


LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just(PASSAGE), max_size=8)


@settings(max_examples=200)
@given(st.lists(LINES, max_size=6))
def test_texts_are_restored_as_they_were(texts: list[list[str]]) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA + "COMMIT;")
    writer = TextWriter(connection)
    written = {"\n".join(lines): writer.write("\n".join(lines), "prompt") for lines in texts}
    reader = TextReader(connection)
    assert {text: reader.read(number) for text, number in written.items()} == {text: text for text in written}
    assert len(set(written.values())) == len(written)
    again = TextWriter(connection)  # of a resumed run
    assert {text: again.write(text, "prompt") for text in written} == written
    connection.close()


def test_later_texts_of_a_kind_are_short_by_the_first(connection: sqlite3.Connection) -> None:
    writer, random = TextWriter(connection), Random(1)
    passages = [f"{random.randbytes(50).hex()} {PASSAGE}\n" for _ in range(20)]
    prompts = [f"Question {number}\n\n{''.join(passages)}\nAnswer." for number in range(200)]
    for prompt in prompts:
        writer.write(prompt, "user")
    ((stored,),) = connection.execute("SELECT sum(length(text)) FROM texts")
    assert stored < sum(len(zlib.compress(prompt.encode())) for prompt in prompts) / 10


def test_a_text_made_of_other_texts_is_restored(connection: sqlite3.Connection) -> None:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = bytes(4) + packer.compress(b'["a ",1,"c"]') + packer.flush()
    connection.execute("INSERT INTO texts VALUES (1, 0, 'b '), (2, 0, ?)", (packed,))
    assert TextReader(connection).read(2) == "a b c"


def test_a_text_of_another_origin_is_reported(connection: sqlite3.Connection) -> None:
    reader = TextReader(connection)
    for stored in (b"\0\0\0\0no zlib", b"\x09\0\0\0", b""):
        with pytest.raises(ValueError, match=r"damaged|missing|Expecting"):
            reader.unpack(stored)
    with pytest.raises(ValueError, match="text 7 is missing"):
        reader.read(7)


SCHEMA_4 = """
PRAGMA application_id = 0x4C617754;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;
CREATE TABLE requests (id INTEGER PRIMARY KEY, before INTEGER NOT NULL, role TEXT NOT NULL,
    text INTEGER NOT NULL REFERENCES texts, UNIQUE (before, role, text)) STRICT;
CREATE TABLE conversations (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stage TEXT NOT NULL, task TEXT,
    unit TEXT, style TEXT, conversation_kind TEXT, tested_model TEXT, trial INTEGER NOT NULL, variant TEXT) STRICT;
CREATE TABLE entries (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations, role TEXT, turn INTEGER, text INTEGER REFERENCES texts,
    request INTEGER REFERENCES requests, request_hash TEXT, occurrence INTEGER, payload TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (said, content = '', columnsize = 0, tokenize = 'unicode61');
INSERT INTO meta VALUES ('schema_version', '4'), ('lawtrace_version', '1.0.0'), ('created', ''), ('recipe', '{}');
INSERT INTO texts VALUES (1, x'01', 'Hello.'), (2, x'02', 'It is allowed.');
INSERT INTO requests VALUES (1, 0, 'user', 1);
INSERT INTO conversations VALUES (1, '0123456789ab', 's', 't', NULL, NULL, NULL, 'openai:a', 0, NULL);
INSERT INTO entries VALUES (1, '2025-06-01T12:00:00+00:00', 'model_call', 1, 'r', 0, 2, 1, 'ab', 0, '{
    "kind":"model_call","context":{"stage":"s","role":"r","model":"openai:a","task":"t","tested_model":"openai:a","turn":0},
    "parameters":{"temperature":null},"request_hash":"ab","occurrence":0,"finish_reason":"stop","prompt_tokens":3,
    "completion_tokens":4,"latency_ms":1.5,"paid":true}');
"""


def test_an_older_log_is_read_and_not_written(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "events.sqlite")
    connection.executescript(SCHEMA_4)
    connection.close()
    before = (tmp_path / "events.sqlite").read_bytes()
    with EventLogFile.open(tmp_path) as event_log:
        (call,) = event_log.answered()
        assert (call.context.model, call.answer, call.request[0].content) == ("openai:a", "It is allowed.", "Hello.")
        assert (call.prompt_tokens, call.latency_ms) == (3, 1.5)
        assert event_log.answer(call.context, "ab", 0) == call
        assert [model.model for model in event_log.models("r")] == ["openai:a"]
        with EventLogFile.create(tmp_path / "new", recipe=None) as new:
            assert new.append(event_log.timed_entries()) == 1
            assert list(new.entries()) == [call]
            assert list(new.timed_entries()) == list(event_log.timed_entries())
    with pytest.raises(InputError, match="can only be read"):
        EventLogFile.resume(tmp_path)
    assert (tmp_path / "events.sqlite").read_bytes() == before
