"""Writing one instruction: generator, code, independent reader, code again, evaluator (P 3.4).

Code stands in front of every opinion: what the wording check or the reading check rejects never reaches the evaluator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.hold import Said, hold_conversation
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.independent_reader import Reading, seat_independent_reader
from lawtrace.agents.roles.instruction_generator import Draft, Objections, plan_of, seat_instruction_generator
from lawtrace.agents.roles.masking_evaluator import Review, seat_masking_evaluator
from lawtrace.agents.speaker import CodeCheck, RoleFailure
from lawtrace.environments.declaration import Environment
from lawtrace.solver.goals import goal_calls
from lawtrace.solver.masking import Instruction, Style, check_reading, check_wording
from lawtrace.solver.traces import Trace, business_calls
from lawtrace.solver.wording import variables_of

Ending = Literal["accepted", "wording", "reading", "evaluator", "failure"]
"""How the conversation ended: accepted, or who rejected the last draft, or a role that failed."""


@dataclass(frozen=True, slots=True)
class Instructed:
    """What came of the conversation. ``instruction`` is None unless it ended in acceptance."""

    instruction: Instruction | None
    rounds: int
    ending: Ending


async def write_instruction(
    environment: Environment,
    trace: Trace,
    style: Style,
    *,
    casting: Casting,
    context: Context,
    ledger: Ledger,
    most_rounds: int,
    evaluator: bool = True,
) -> Instructed:
    """Hold the conversation for one style; after ``most_rounds`` drafts that nobody accepts, nothing comes of it.

    Without an ``evaluator`` a draft is accepted that code has nothing against.
    """
    calls = business_calls(environment, trace.calls)
    numbers = goal_calls(environment, trace.initial, calls) if style == "goal" else tuple(range(len(calls)))
    variables = variables_of(calls, numbers)
    plan = plan_of(environment, calls, numbers, style)
    context = context.at(style=style)

    def instruction_of(text: str) -> Instruction:
        return Instruction(style=style, text=text, variables=variables)

    def wording(content: BaseModel | str) -> Objections:
        text = content.text if isinstance(content, Draft) else ""
        return Objections(objections=tuple(check_wording(environment, trace, instruction_of(text))))

    def reading(content: BaseModel | str) -> Objections:
        read = content.calls if isinstance(content, Reading) else ()
        return Objections(objections=tuple(check_reading(environment, trace, style, read)))

    said = await hold_conversation(
        [
            seat_instruction_generator(
                casting.client("instruction_generator", context),
                casting.prompt("instruction_generator"),
                environment,
                plan,
                style,
            ),
            CodeCheck("wording_check", Objections, wording),
            seat_independent_reader(
                casting.client("independent_reader", context), casting.prompt("independent_reader"), environment, style
            ),
            CodeCheck("reading_check", Objections, reading),
            seat_masking_evaluator(
                casting.client("masking_evaluator", context),
                casting.prompt("masking_evaluator"),
                environment,
                plan,
                style,
            ),
        ],
        opening="Write the request.",
        next_speaker=lambda said: _next_speaker(said, most_rounds, evaluator=evaluator),
        context=context,
        ledger=ledger,
        most_messages=5 * most_rounds + 2,
    )
    drafts = [content for _, content in said if isinstance(content, Draft)]
    ending = _ending(said, evaluator=evaluator)
    accepted = instruction_of(drafts[-1].text) if ending == "accepted" else None
    return Instructed(accepted, len(drafts), ending)


def _next_speaker(said: Sequence[Said], most_rounds: int, *, evaluator: bool) -> str | None:
    source, content = said[-1]
    rounds = sum(isinstance(content, Draft) for _, content in said)
    again = "instruction_generator" if rounds < most_rounds else None
    match content:
        case Draft():
            return "wording_check"
        case Objections(objections=()):
            if source == "wording_check":
                return "independent_reader"
            return "masking_evaluator" if evaluator else None
        case Objections():
            return again
        case Reading():
            return "reading_check"
        case Review():
            return None if content.accepted else again
        case _:
            return "instruction_generator"


def _ending(said: Sequence[Said], *, evaluator: bool) -> Ending:
    source, content = said[-1]
    match content:
        case Review(accepted=True):
            return "accepted"
        case Objections(objections=()) if source == "reading_check" and not evaluator:
            return "accepted"
        case Review():
            return "evaluator"
        case RoleFailure():
            return "failure"
        case _:
            return "reading" if source == "reading_check" else "wording"
