"""Writing one instruction: generator, code, independent reader, code again, evaluator (P 3.4).

Code stands in front of every opinion: what the wording check or the reading check rejects never reaches the evaluator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.participants import CodeCheck, Objections, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.instruction_roles import (
    Draft,
    MaskingReview,
    RequestReading,
    make_independent_reader,
    make_instruction_generator,
    make_masking_evaluator,
    plan_of,
)
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import Instruction, ReaderCall, Style, check_reader_calls, check_wording
from lawtrace.solver.masking.wording import instruction_variables
from lawtrace.solver.traces import Trace, literal_calls

Ending = Literal["accepted", "wording", "reading", "evaluator", "failure"]
"""How the conversation ended: accepted, or who rejected the last draft, or a role that failed."""


@dataclass(frozen=True, slots=True)
class InstructionResult:
    """What came of the conversation. ``instruction`` is None unless it ended in acceptance."""

    instruction: Instruction | None
    rounds: int
    ending: Ending


async def write_instruction(
    environment: Environment,
    trace: Trace,
    style: Style,
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
    evaluator: bool = True,
) -> InstructionResult:
    """Hold the conversation for one style; after ``most_rounds`` drafts that nobody accepts, nothing comes of it.

    Without an ``evaluator`` a draft is accepted that code has nothing against.
    """
    calls = literal_calls(environment, trace.calls)
    numbers = goal_calls(environment, trace.initial, calls) if style == "goal" else tuple(range(len(calls)))
    variables = instruction_variables(calls, numbers)
    plan = plan_of(environment, calls, numbers, style)
    context = context.at(style=style)

    def instruction_of(text: str) -> Instruction:
        return Instruction(style=style, text=text, variables=variables)

    def wording(content: BaseModel | str) -> Objections:
        text = content.text if isinstance(content, Draft) else ""
        return Objections(objections=tuple(check_wording(environment, trace, instruction_of(text))))

    def reading(content: BaseModel | str) -> Objections:
        read = content.calls if isinstance(content, RequestReading) else ()
        return Objections(objections=tuple(check_reader_calls(environment, trace, style, read)))

    said = await run_conversation(
        [
            make_instruction_generator(
                role_models.client("instruction_generator", context),
                role_models.prompt("instruction_generator"),
                environment,
                plan,
                style,
            ),
            CodeCheck("wording_check", Objections, wording),
            make_independent_reader(
                role_models.client("independent_reader", context),
                role_models.prompt("independent_reader"),
                environment,
                style,
            ),
            CodeCheck("reading_check", Objections, reading),
            make_masking_evaluator(
                role_models.client("masking_evaluator", context),
                role_models.prompt("masking_evaluator"),
                environment,
                plan,
                style,
            ),
        ],
        opening="Write the request.",
        next_speaker=lambda said: _next_speaker(said, most_rounds, evaluator=evaluator),
        context=context,
        event_log=event_log,
        most_messages=5 * most_rounds + 2,
    )
    drafts = [content for _, content in said if isinstance(content, Draft)]
    ending = _ending(said, evaluator=evaluator)
    accepted = instruction_of(drafts[-1].text) if ending == "accepted" else None
    return InstructionResult(accepted, len(drafts), ending)


def _next_speaker(said: Sequence[Utterance], most_rounds: int, *, evaluator: bool) -> str | None:
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
        case RequestReading():
            return "reading_check"
        case MaskingReview():
            return None if content.accepted else again
        case _:
            return "instruction_generator"


def _ending(said: Sequence[Utterance], *, evaluator: bool) -> Ending:
    source, content = said[-1]
    match content:
        case MaskingReview(accepted=True):
            return "accepted"
        case Objections(objections=()) if source == "reading_check" and not evaluator:
            return "accepted"
        case MaskingReview():
            return "evaluator"
        case RoleFailure():
            return "failure"
        case _:
            return "reading" if source == "reading_check" else "wording"


async def read_instruction(
    environment: Environment,
    instruction: Instruction,
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
) -> tuple[ReaderCall, ...] | None:
    """The calls that the reader makes of the text and the documentation; None if the role failed."""
    context = context.at(role="independent_reader", style=instruction.style)
    said = await run_conversation(
        [
            CodeCheck("instruction", Draft, lambda _: Draft(text=instruction.text)),
            make_independent_reader(
                role_models.client("independent_reader", context),
                role_models.prompt("independent_reader"),
                environment,
                instruction.style,
            ),
        ],
        opening="Read the request.",
        next_speaker=_next_reader,
        context=context,
        event_log=event_log,
    )
    _, last = said[-1]
    return last.calls if isinstance(last, RequestReading) else None


def _next_reader(said: Sequence[Utterance]) -> str | None:
    match said[-1][1]:
        case Draft():
            return "independent_reader"
        case RequestReading():
            return None
        case _:
            return "instruction"
