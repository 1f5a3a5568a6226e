"""The conversation that writes an instruction (P 3.4): generator, wording check, independent reader, reading check,
evaluator.

The checks by code come first: a draft that they reject never reaches the evaluator. A model writes freely, so its
drafts are checked like texts written by hand.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lawtrace.agents.conversation import Utterance, ask_role, record_turn, run_conversation
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, NotChecked, Objections, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import instruction_roles as roles
from lawtrace.agents.roles.extraction_roles import documentation_json
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Style
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import check_reader_calls, check_wording
from lawtrace.solver.masking.requests import AskedRequest
from lawtrace.solver.masking.text_checks import check_text
from lawtrace.solver.masking.wording import instruction_variables
from lawtrace.solver.traces import Trace, literal_calls

Ending = Literal["accepted", "wording", "reading", "evaluator", "failure"]
"""How the conversation ended: the draft was accepted, the check that rejected the last draft, or a role failed."""


@dataclass(frozen=True, slots=True)
class InstructionResult:
    """The result of the conversation. ``instruction`` is None unless a draft was accepted; ``why``: what was objected
    to the last one."""

    instruction: Instruction | None
    rounds: int
    ending: Ending
    why: str = ""


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
    """Write the instruction in one style, in at most ``most_rounds`` drafts.

    Without an ``evaluator`` a draft is accepted if code has no objection.
    """
    calls = literal_calls(environment, trace.calls)
    numbers = goal_calls(environment, trace.initial, calls) if style == "goal" else tuple(range(len(calls)))
    free = role_models.name_of("instruction_generator") != "offline"
    request = AskedRequest(environment, (trace.initial,), calls)
    plan = roles.instruction_plan(environment, calls, numbers, style)
    context = context.at(style=style)

    def instruction_of(draft: roles.Draft) -> Instruction:
        if free:
            return Instruction(style=style, text=draft.text, variables={}, written="by a model", says=draft.noted)
        return Instruction(style=style, text=draft.text, variables=instruction_variables(calls, numbers))

    def wording(draft: roles.Draft) -> Objections:
        if free:
            findings = check_text(request, style, draft.text, draft.noted).findings
            return Objections(objections=tuple(finding.detail for finding in findings))
        return Objections(objections=tuple(check_wording(environment, trace, instruction_of(draft))))

    offline = role_models.name_of("independent_reader") == "offline"

    def reading(content: roles.RequestReading) -> Objections:
        if content.unclear and offline:
            return NotChecked(not_checked="the offline reader does not know this wording, which need not be unclear")
        if content.unclear:
            return Objections(objections=tuple(f"it is not clear what to do: {text}" for text in content.unclear))
        return Objections(objections=tuple(check_reader_calls(environment, trace, style, content.calls)))

    plan_json, documentation = json.dumps(plan, indent=1), documentation_json(environment)
    messages = await run_conversation(
        [
            roles.INSTRUCTION_GENERATOR.agent(
                role_models,
                context,
                style=style,
                manner=roles.manner_of(context.task, style),
                plan=plan_json,
                summary=environment.summary,
            ),
            CodeCheck("wording_check", roles.Draft, Objections, wording),
            roles.INDEPENDENT_READER.agent(role_models, context, documentation=documentation, style=style),
            CodeCheck("reading_check", roles.RequestReading, Objections, reading, NotChecked),
            roles.MASKING_EVALUATOR.agent(
                role_models, context, style=style, plan=plan_json, hidden=roles.hidden_tools_json(environment)
            ),
        ],
        opening="Write the request.",
        next_speaker=lambda messages: _next_speaker(messages, most_rounds, evaluator=evaluator),
        context=context,
        event_log=event_log,
        most_messages=5 * most_rounds + 2,
    )
    drafts = [content for _, content in messages if isinstance(content, roles.Draft)]
    ending = _ending(messages, evaluator=evaluator)
    accepted = instruction_of(drafts[-1]) if ending == "accepted" else None
    why = next((one.objections[0] for _, one in messages[-1:] if isinstance(one, Objections) and one.objections), "")
    return InstructionResult(accepted, len(drafts), ending, why)


def _next_speaker(messages: Sequence[Utterance], most_rounds: int, *, evaluator: bool) -> str | None:
    source, content = messages[-1]
    rounds = sum(isinstance(content, roles.Draft) for _, content in messages)
    again = "instruction_generator" if rounds < most_rounds else None
    match content:
        case roles.Draft():
            return "wording_check"
        case Objections(objections=()):
            if source == "wording_check":
                return "independent_reader"
            return "masking_evaluator" if evaluator else None
        case Objections():
            return again
        case roles.RequestReading():
            return "reading_check"
        case roles.MaskingReview():
            return None if content.accepted else again
        case _:
            return "instruction_generator"


def _ending(messages: Sequence[Utterance], *, evaluator: bool) -> Ending:
    source, content = messages[-1]
    match content:
        case roles.MaskingReview(accepted=True):
            return "accepted"
        case Objections(objections=()) if source == "reading_check" and not evaluator:
            return "accepted"
        case roles.MaskingReview():
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
) -> roles.RequestReading | None:
    """What the independent reader derives from a finished instruction; None if the role failed."""
    context = context.at(role="independent_reader", style=instruction.style)
    documentation = documentation_json(environment)
    reader = roles.INDEPENDENT_READER.agent(role_models, context, documentation=documentation, style=instruction.style)
    draft = roles.Draft(text=instruction.text)
    turn = record_turn(None, draft, context.at(role="instruction"), event_log)
    answer = await ask_role(reader, draft, context.at(turn=turn), event_log)
    return None if isinstance(answer, RoleFailure) else answer
