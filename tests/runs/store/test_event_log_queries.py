from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import (
    ConversationKey,
    MessageQuery,
    conversation_messages,
    conversation_numbers,
    count_conversations,
    find_conversations,
    find_message,
    find_messages,
)
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context, MessageSent, RoleFailed


def message(context: Context, source: str, content: str) -> MessageSent:
    return MessageSent(context=context.at(role=source), source=source, content=content, prompt_id="p")


@pytest.fixture
def talked(event_log: EventLogFile, context: Context) -> EventLogFile:
    """Two conversations, their messages in turns, and one in another stage."""
    other = context.at(style="workflow")
    event_log.record(message(context, "generator", "please pay the gas bill"))
    event_log.record(message(other, "generator", "1. Pay."))
    event_log.record(message(context.at(turn=1), "evaluator", '{"accepted": true}'))
    event_log.record(RoleFailed(context=other.at(role="evaluator", turn=1), reason="deadline", text="no answer"))
    for model in ("openai:a", "openai:b"):
        for trial in (0, 1):
            place = context.at(stage="attempts", tested_model=model, trial=trial)
            event_log.record(message(place, "executor", "Transferred_Funds; done"))
    return event_log


def test_interleaved_messages_are_separated_by_conversation(talked: EventLogFile) -> None:
    goal, workflow = find_conversations(talked, MessageQuery(stage="tasks"))
    assert goal.place == ConversationKey("tasks", "task-1", style="goal")
    assert [said.line.context.role for said in conversation_messages(talked, goal.id)] == ["generator", "evaluator"]
    assert isinstance(conversation_messages(talked, workflow.id)[1].line, RoleFailed)
    assert [goal.lines, workflow.lines] == [2, 2]


def test_models_and_trials_have_separate_conversations(talked: EventLogFile) -> None:
    found = find_conversations(talked, MessageQuery(stage="attempts"))
    assert [(one.place.tested_model, one.place.trial) for one in found] == [
        ("openai:a", 0),
        ("openai:a", 1),
        ("openai:b", 0),
        ("openai:b", 1),
    ]
    ids = ["unknown", *(one.place.id for one in found)]
    assert conversation_numbers(talked, ids) == {one.place.id: one.id for one in found}


def test_every_message_is_found_by_its_id(talked: EventLogFile) -> None:
    said = find_messages(talked)
    assert [find_message(talked, one.id) for one in said] == list(said)
    assert [one.id for one in said if isinstance(one.line, RoleFailed)] == ["4"]
    for unknown in ("", "-", "4-", "99", "9" * 18, f"{said[0].id}0", "no-such-0"):
        assert find_message(talked, unknown) is None


@pytest.mark.parametrize(
    ("wanted", "conversations", "lines"),
    [
        (MessageQuery(), 6, 8),
        (MessageQuery(style="workflow"), 1, 2),
        (MessageQuery(role="generator"), 2, 2),
        (MessageQuery(role="evaluator", turn=1), 2, 2),
        (MessageQuery(turn=0), 6, 6),
        (MessageQuery(tested_model="openai:a", trial=1), 1, 1),
        (MessageQuery(text="PAY"), 2, 2),
        (MessageQuery(text="bill gas"), 1, 1),
        (MessageQuery(text="funds"), 4, 4),
        (MessageQuery(text="transfer fu", role="executor", trial=0), 2, 2),
        (MessageQuery(text="pay", role="evaluator"), 0, 0),
        (MessageQuery(text='" OR * NOT (AND'), 0, 0),
        (MessageQuery(task="task-9"), 0, 0),
        (MessageQuery(conversations=[2, 5]), 2, 3),
        (MessageQuery(conversations=[]), 0, 0),
    ],
)
def test_queries_filter_conversations_and_messages(
    talked: EventLogFile, wanted: MessageQuery, conversations: int, lines: int
) -> None:
    assert len(find_conversations(talked, wanted)) == count_conversations(talked, wanted) == conversations
    assert len(find_messages(talked, wanted)) == lines


def test_pages_cover_all_results(talked: EventLogFile) -> None:
    whole = find_conversations(talked)
    assert [page for n in range(0, 6, 2) for page in find_conversations(talked, limit=2, offset=n)] == whole
    said = find_messages(talked)
    assert find_messages(talked, after=said[4].number) == said[5:]


def test_repeated_messages_of_a_resumed_run_are_stored_once(event_log: EventLogFile, context: Context) -> None:
    def say(writer: EventLogFile) -> None:
        writer.record(message(context, "generator", "please pay"))
        writer.record(message(context.at(turn=1), "evaluator", "no"))

    say(event_log)
    event_log.close()
    with EventLogFile.resume(event_log.path.parent) as resumed:
        say(resumed)
        resumed.record(message(context.at(turn=2), "generator", "please pay"))
        (conversation,) = find_conversations(resumed)
        assert [said.line.context.turn for said in conversation_messages(resumed, conversation.id)] == [0, 1, 2]


def test_a_search_without_words_is_refused(talked: EventLogFile) -> None:
    with pytest.raises(InputError, match="no word to search for"):
        find_messages(talked, MessageQuery(text=" ?! "))


@given(st.text())
def test_any_search_text_is_valid_syntax(talked_once: EventLogFile, text: str) -> None:
    with suppress(InputError):  # raised for a text without words
        assert len(find_messages(talked_once, MessageQuery(text=text))) <= 1


@pytest.fixture(scope="module")
def talked_once(tmp_path_factory: pytest.TempPathFactory) -> EventLogFile:
    event_log = EventLogFile.create(tmp_path_factory.mktemp("search") / "run", recipe=None)
    event_log.record(message(Context(stage="s", role="r"), "generator", "please pay the gas bill"))
    return event_log
