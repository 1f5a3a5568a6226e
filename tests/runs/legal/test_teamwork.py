"""How questions were split up, counted from rows that are known."""

from lawtrace.agents.conversations.decomposing import Ended
from lawtrace.environments.casebook.case import Agent
from lawtrace.runs.legal.rows import AnswerRow, StepRow
from lawtrace.runs.legal.teamwork import team_lines


def step(agent: Agent, ended: Ended = "atomic", *, wanted: str = "", depth: int = 1, found: str | None = "") -> StepRow:
    wanted = wanted or agent
    return StepRow(task="t", depth=depth, ended=ended, wanted=wanted, agent=agent, passages=(), found=found)


def answered(question: str, *steps: StepRow) -> AnswerRow:
    return AnswerRow(
        case="case",
        question=question,
        model="m",
        context="F+LR",
        retriever="bm25",
        depth=1,
        passages=(),
        outcome="refused",
        steps=steps,
    )


def test_parts_are_counted_over_all_questions() -> None:
    rows = [
        answered("q1", step("F"), step("LR", "depth", depth=2)),
        answered("q2", step("F", "not judged", wanted="CS", found=None)),
    ]
    (line,) = team_lines(rows)
    assert (line.questions, line.parts, line.deepest, line.rerouted, line.unusable) == (2, 3, 2, 1, 1)
    assert line.agents == {"F": 2, "LR": 1}
    assert {ending: count for ending, count in line.ended.items() if count} == {
        "atomic": 1,
        "depth": 1,
        "not judged": 1,
    }


def test_questions_that_were_answered_at_once_have_no_line() -> None:
    assert team_lines([answered("q1")]) == []
