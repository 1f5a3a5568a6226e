from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.report.message_view import conversation_title
from lawtrace.runs.report.transcript_diff import MOST_WORDS, ConversationDiff, DiffPiece, diff_conversations, diff_words
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import ANY_MESSAGE
from lawtrace.schemas.log_entries import Context, MessageSent

WORDS = st.lists(st.sampled_from(["pay", "the", "bill", " ", ", ", "audit", "\n"]), max_size=30).map("".join)


def side(pieces: list[DiffPiece], which: str) -> str:
    return "".join(piece.text for piece in pieces if piece.kind in ("both", which))


@given(WORDS, WORDS)
def test_the_pieces_of_each_side_are_its_text(first: str, second: str) -> None:
    pieces = diff_words(first, second)
    assert side(pieces, "first") == first
    assert side(pieces, "second") == second
    assert (first == second) == all(piece.kind == "both" for piece in pieces)


def test_a_long_difference_is_shown_as_replaced() -> None:
    first, second = "same " + "a " * (MOST_WORDS + 1) + "end", "same " + "b " * (MOST_WORDS + 1) + "end"
    pieces = diff_words(first, second)
    assert [piece.kind for piece in pieces] == ["both", "first", "second"]
    assert side(pieces, "second") == second


def run(folder: Path, *said: tuple[str, str, str], name: str | None = None) -> EventLogFile:
    """An event log with a message for each (task, source, words), in order."""
    event_log = EventLogFile.create(folder, recipe=None)
    for turn, (task, source, words) in enumerate(said):
        context = Context(stage="tasks", role=source, task=task, tested_model=name, turn=turn)
        event_log.record(MessageSent(context=context, source=source, content=words))
    return event_log


def test_differing_conversations_with_the_first_difference(tmp_path: Path) -> None:
    with (
        run(tmp_path / "a", ("t1", "g", "pay now"), ("t2", "g", "same"), ("t1", "e", "no"), ("t3", "g", "x")) as first,
        run(
            tmp_path / "b", ("t1", "g", "pay now"), ("t2", "g", "same"), ("t1", "e", "yes"), ("t4", "g", "x")
        ) as second,
    ):
        found = list(diff_conversations(first, second, ANY_MESSAGE))
    assert [one.same for one in found] == [1, 0, 0]
    assert [(piece.kind, piece.text) for piece in found[0].pieces] == [
        ("both", "e: "),
        ("first", "no"),
        ("second", "yes"),
    ]
    assert tasks(found[1]) == ("t3", None)
    assert tasks(found[2]) == (None, "t4")


def tasks(parting: ConversationDiff) -> tuple[str | None, ...]:
    return tuple(talk.place.task if talk else None for talk in parting.conversations)


def test_conversations_of_different_models_under_test_are_paired(tmp_path: Path) -> None:
    with (
        run(tmp_path / "a", ("t", "e", "a"), name="m1") as first,
        run(tmp_path / "b", ("t", "e", "b"), name="m2") as two,
    ):
        (parting,) = diff_conversations(first, two, ANY_MESSAGE)
        assert not list(diff_conversations(first, two, ANY_MESSAGE, ("m2", "m1")))
    assert parting.models == ("m1", "m2")
    assert conversation_title(*parting.places) == "tasks · t · m1 / m2"
