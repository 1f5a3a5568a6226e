"""How questions were split up and worked on, in the decomposed pipeline (M Algorithms 1 and 2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from lawtrace.agents.conversations.decomposing import Ended
from lawtrace.environments.casebook.case import AGENTS, Agent
from lawtrace.runs.legal.rows import AnswerRow

ENDINGS: tuple[Ended, ...] = get_args(Ended)


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A model in a context, over all its columns.

    Attributes:
        parts: in all; ``ended`` says why they were not split further, ``agents`` who worked on them.
        deepest: the most splits that a part came from.
        rerouted: parts that went to another agent than the decomposer named.
        unusable: parts whose agent said nothing usable.
    """

    model: str
    context: str
    questions: int
    parts: int
    deepest: int
    ended: Mapping[Ended, int]
    agents: Mapping[Agent, int]
    rerouted: int
    unusable: int


def team_lines(rows: Sequence[AnswerRow]) -> list[TeamLine]:
    """A line for each model and context of which some question was split up, in the order of the rows."""
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in rows:
        if row.steps:
            groups.setdefault((row.model, row.context), []).append(row)
    lines: list[TeamLine] = []
    for (model, context), members in groups.items():
        steps = [step for row in members for step in row.steps]
        ended, agents = Counter(step.ended for step in steps), Counter(step.agent for step in steps)
        lines.append(
            TeamLine(
                model,
                context,
                questions=len(members),
                parts=len(steps),
                deepest=max(step.depth for step in steps),
                ended={ending: ended[ending] for ending in ENDINGS},
                agents={agent: agents[agent] for agent in AGENTS if agents[agent]},
                rerouted=sum(step.wanted.strip().upper() != step.agent for step in steps),
                unusable=sum(step.found is None for step in steps),
            )
        )
    return lines
