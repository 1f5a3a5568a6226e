"""The restater: code accepts what surely flips the answer, sends back the rest, and counts what it refused."""

import json
from collections.abc import Sequence

from autogen_core.models import ChatCompletionClient, LLMMessage

from lawtrace.agents.event_log import Context, MemoryEventLog, MessageSent
from lawtrace.agents.legal.restater import RestatementResult, restate_question
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompt
from tests.support.legal.small_cases import asked

QUESTION = asked("bottles/q1", "Did Bottle Works infringe Article 32?", {"Yes": "Yes", "No": "No"}, "Yes")
CONTEXT = Context(stage="restating", role="restater")


class Says:
    """A restater that says these things, one after the other; without any, the offline one."""

    def __init__(self, *questions: str | None) -> None:
        self._left = list(questions)

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        return ScriptedClient(self._say if self._left else LEGAL_OFFLINE_ROLES[role])

    def prompt(self, role: str) -> Prompt:
        return DEFAULT_PROMPTS[role]

    def _say(self, messages: Sequence[LLMMessage]) -> str:
        return json.dumps({"question": self._left.pop(0)})


async def restate(
    *questions: str | None, text: str = QUESTION.text, event_log: MemoryEventLog | None = None
) -> RestatementResult:
    return await restate_question(
        QUESTION.model_copy(update={"text": text}),
        role_models=Says(*questions),
        context=CONTEXT,
        event_log=event_log or MemoryEventLog(),
        most_rounds=2,
    )


async def test_the_offline_restater_asks_whether_it_is_false() -> None:
    assert await restate() == RestatementResult("Is it false that Bottle Works did infringe Article 32?")


async def test_it_declines_where_it_cannot_tell_what_is_asserted() -> None:
    assert await restate(text="Which of them, then, that act?") == RestatementResult(None, "the restater declined")


async def test_what_code_cannot_check_is_sent_back_and_may_be_mended() -> None:
    good = "Is it false that Bottle Works infringed Article 32?"
    event_log = MemoryEventLog()
    assert (await restate("Did Bottle Works not infringe Article 32?", good, event_log=event_log)).text == good
    said = [entry.source for entry in event_log.entries if isinstance(entry, MessageSent)]
    assert said.count("restater") == said.count("check") == 2


async def test_what_stays_uncheckable_is_refused_with_its_reason() -> None:
    bad = "Did Bottle Works keep Article 32?"
    restated = await restate(bad, bad)
    assert restated.text is None
    assert "exactly one negation" in restated.refused
