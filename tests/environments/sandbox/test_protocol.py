"""The protocol parser treats every byte from the sandbox as hostile."""

import json
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.sandbox.inside.wire import HEADER, frame, size
from lawtrace.environments.sandbox.protocol import CallMessage, EndMessage, FrameReader, ProtocolError, read_message

texts = st.text('az09 "\\\0\n\x7fé\u2028\ufeff😀', max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(tool=texts, arguments=st.dictionaries(texts, values, max_size=4), cut=st.integers(1, 40))
def test_messages_survive_the_round_trip(tool: str, arguments: dict[str, Any], cut: int) -> None:
    data = frame({"tool": tool, "arguments": arguments}) * 2
    reader = FrameReader(2**20)
    messages: list[CallMessage | EndMessage] = []
    for start in range(0, len(data), cut):
        reader.feed(data[start : start + cut])
        while (body := reader.take()) is not None:
            messages.append(read_message(body))
    assert messages == [CallMessage(tool, arguments)] * 2


@given(st.binary(max_size=200))
def test_garbage_is_refused_without_side_effects(data: bytes) -> None:
    with suppress(ProtocolError):
        assert isinstance(read_message(data), CallMessage | EndMessage)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b'{"tool": "A", "arguments": {}} {}',
        b'{"tool": "A", "arguments": {"x": NaN}}',
        b'{"tool": "A", "arguments": {"x": -Infinity}}',
        b'{"tool": "A", "arguments": {"x": 1e999}}',
        b'{"tool": "A", "arguments": {"x": "\\ud800"}}',
        b'{"tool": "A", "arguments": {"\\ud800": 1}}',
        b'{"tool": "A", "arguments": {"x": 1, "x": 2}}',
        b'{"tool": "A", "tool": "B", "arguments": {}}',
        b'{"tool": 1, "arguments": {}}',
        b'{"tool": "A", "arguments": []}',
        b'{"tool": "A", "arguments": {}, "end": "finished"}',
        b'{"tool": "A"}',
        b'{"tool": "A", "arguments": {}, "pause": -1}',
        b'{"tool": "A", "arguments": {}, "pause": 0.5}',
        b'{"tool": "A", "arguments": {}, "pause": true}',
        b'{"tool": "A", "arguments": {}, "pause": 1, "more": 1}',
        b'{"tool": "A", "arguments": {"x": ' + b"9" * 5000 + b"}}",
        b'{"tool": "A", "arguments": {"x": ' + b"[" * 100 + b"]" * 100 + b"}}",
        b"[" * 10**6,
        b'{"end": "exception", "type": 1, "message": null, "line": null}',
        b'{"end": "exception", "type": null, "message": null, "line": true}',
    ],
)
def test_near_misses(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_message(body)


def test_a_frame_is_refused_by_its_length_before_it_is_read() -> None:
    reader = FrameReader(100)
    reader.feed(HEADER.pack(101))
    with pytest.raises(ProtocolError, match="101 bytes"):
        reader.take()


def test_a_frame_is_refused_by_its_values_before_it_is_parsed() -> None:
    reader = FrameReader(10_000)
    reader.feed(frame({"values": [None] * 98}))
    with pytest.raises(ProtocolError, match="bytes in memory; the limit is 10000"):
        reader.take()


@pytest.mark.parametrize("value", ["[]", "{}", '{"a":1.5}', "1000000000", '"ab"'])
def test_the_size_of_a_message_is_at_least_the_memory_that_it_takes(value: str) -> None:
    body = f"[{','.join([value] * 10_000)}]".encode()
    tracemalloc.start()
    try:
        parsed = json.loads(body)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(parsed) == 10_000
    assert held <= 1.2 * size(body)
