"""Golden transcript of the legal team; see tests/agents/conversations/test_golden_transcripts.py.

    .venv/bin/python -m tests.agents.legal.test_golden_decomposition

writes it again.
"""

from collections.abc import Sequence
from pathlib import Path

from lawtrace.agents.event_log import Context, MemoryEventLog
from lawtrace.agents.legal.decomposition import DecompositionLimits, answer_by_decomposition
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.environments.legal.case import Agent, Chunk
from tests.support.legal.small_cases import BOTTLES
from tests.support.transcripts import Cast, golden, transcript, write_golden

FOLDER = Path(__file__).parent / "transcripts"


async def decomposition() -> list[str]:
    def store(agent: Agent, text: str) -> tuple[Sequence[Chunk], float]:
        pool = BOTTLES.chunks_of((agent,))
        return pool[:2], float(len(pool))

    cast, event_log = Cast(LEGAL_OFFLINE_ROLES), MemoryEventLog()
    question = BOTTLES.questions[0]
    context = Context(stage="answers", role="meta_llm", task=question.id)
    calls = RoleCalls(cast, context, event_log)
    await answer_by_decomposition(BOTTLES, question, ("F", "LR"), store, calls, limits=DecompositionLimits())
    return transcript(event_log, cast.sent)


async def test_the_team_says_what_it_said() -> None:
    assert await decomposition() == golden(FOLDER, "decomposition")


if __name__ == "__main__":
    write_golden(FOLDER, {"decomposition": decomposition})
