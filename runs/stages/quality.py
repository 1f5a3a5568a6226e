"""The quality gate on tasks: eleven checks, each passed, failed or undecided.

    reference      the reference program runs in the sandbox, reaches the target and keeps every rule
    triggered      at least one rule is applicable, and every rule that the task claims to test is triggered
    something      the target state differs from the initial one
    complete       each instruction states every value that its literal calls need from the user
    unambiguous    a reader of the instruction and the documentation derives the same calls (goal: the same state)
    leak-free      neither instruction nor variables reveal a hidden step
    distinct       no other task has the same calls, or the same instruction
    solvable       every argument of the reference can be known: stated, in an earlier result, documented, or derived
    open order     no rule that no text states in full applies where a goal leaves the order of several changes open
    needed         without any one of its compliance calls the reference breaks a rule, and so does a program with just
                   the calls that an instruction asks for
    habit          the best habit does not pass both sides of a contrast pair, in either style

Where the reference declines, *triggered* requires that doing what is asked breaks a rule, and the checks of the
instruction use the trace that the request was made from. The sides of a contrast pair have the same instruction.

The offline reader knows only the offline writer's phrases. Another text that it cannot read is undecided, not failed; a
model as independent reader decides it. Code decides *unambiguous* for a text that a model wrote freely, and a model
 as reader reads it as well (`lawtrace.solver.masking.text_checks`). An imported task does not record which
values come from the user, so *complete* is undecided.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from lawtrace.agents.concurrency import gather
from lawtrace.agents.conversations.instruction_writing import read_instruction
from lawtrace.agents.roles.instruction_roles import RequestReading
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import breaks_a_rule, is_unlawful, judge_rules
from lawtrace.runs.stages.execution import ProgramResult, run_program
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Event, scalars
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.quality_rows import Check, QualityFinding, QualityRow
from lawtrace.schemas.task_rows import request_id
from lawtrace.solver.coverage.mutations import undetected_changes
from lawtrace.solver.lint.rule_grounds import ungrounded_rules
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import (
    check_reader_calls,
    find_leaks,
    find_missing,
    find_unknowable,
    requested_calls,
)
from lawtrace.solver.masking.requests import AskedRequest, Secret
from lawtrace.solver.masking.text_checks import CheckedText, TextCheck, check_text
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace, literal_calls, without_call


@dataclass(frozen=True)
class _ExaminedTask:
    """A task with the result of its reference program and the requested trace."""

    environment: Environment
    task: Task
    ran: ProgramResult
    trace: Trace

    @cached_property
    def request(self) -> AskedRequest:
        environment, trace, contrast = self.environment, self.trace, self.task.contrast
        secret = None
        if contrast is not None:  # the fact of a pair, which no text may reveal
            value_type = environment.entities[contrast.table].fields[contrast.field].type
            secret = Secret(contrast.fact, value_type, (contrast.value, contrast.other))
        return AskedRequest(environment, (trace.initial,), literal_calls(environment, trace.calls), secret)

    @cached_property
    def written(self) -> dict[Style, CheckedText]:
        """The results for the texts that were written freely."""
        checked: dict[Style, CheckedText] = {}
        for style in self.task.styles:
            text = self.task.instructions[style]
            if text.is_free:
                checked[style] = check_text(self.request, style, text.text, text.says)
        return checked


async def check_tasks(
    context: StageContext, tasks: Sequence[Task], habits: Sequence[HabitRow], on_task: Callable[[], None] = lambda: None
) -> list[QualityRow]:
    """Check every task; one row for each, in order. ``habits``: the best ones for these tasks."""
    domain, offline = context.domain, context.role_models.name_of("independent_reader") == "offline"
    environment = domain.environment
    examined = [_examine(environment, task, context.sandbox) for task in tasks]
    twins = _duplicates(examined)
    ungrounded = {
        rules: ungrounded_rules(environment, domain.regulation, rules) for rules in {task.rules for task in tasks}
    }

    async def row(one: _ExaminedTask) -> QualityRow:
        readings = await _read(context, one.task, offline=offline)
        findings = (
            *_reference_findings(one),
            *_instruction_findings(one),
            *_reading_findings(one, readings, offline=offline),
            *twins.get(one.task.id, ()),
            *_order_findings(one, ungrounded[one.task.rules]),
            *_compliance_findings(one),
            *_habit_findings(one.task, habits),
        )
        on_task()
        return QualityRow(task=one.task.id, findings=findings)

    return await gather(row(one) for one in examined)


def _examine(environment: Environment, task: Task, sandbox: Sandbox) -> _ExaminedTask:
    initial = task.initial(environment)
    ran = run_program(sandbox, environment, initial, task.program, {})
    calls, final = task.planned, ran.final
    if task.declined:
        session = Session(environment, initial)
        asked = ((session.call(call.event.tool, call.event.arguments).event, call.origins) for call in task.requested)
        calls, final = tuple(PlannedCall(*one) for one in asked), session.state
    elif not calls:  # imported: the calls of its program, without origins
        calls = tuple(PlannedCall(event, {}) for event in ran.events)
    return _ExaminedTask(environment, task, ran, Trace(initial, calls, final))


def _failed(check: Check, detail: str, style: Style | None = None) -> QualityFinding:
    return QualityFinding(check=check, answer="failed", style=style, detail=detail)


def _reference_findings(one: _ExaminedTask) -> Iterable[QualityFinding]:
    environment, task, ran = one.environment, one.task, one.ran
    if ran.execution.died:
        yield _failed("reference", f"the program did not finish: {ran.execution.error}")
    target = task.target(environment)
    for difference in compare_states(environment, one.trace.initial, target, ran.final):
        yield _failed("reference", f"the program misses the target: {difference}")
    verdicts = judge_rules(task.rules, ran.events, (), end=ran.end)
    for verdict in verdicts:
        if not verdict.kept:
            what = "breaks" if verdict.broken else "leaves undetermined"
            detail = verdict.explanation or verdict.undetermined
            yield _failed("reference", f"the program {what} {verdict.rule}: {detail}")
    if task.declined and not any(
        verdict.broken for verdict in judge_rules(task.rules, one.trace.events, (), end=ran.end)
    ):
        yield _failed("triggered", "doing what is asked breaks no rule, although the reference declines it")
    triggered = {verdict.rule for verdict in verdicts if verdict.triggered}
    if not triggered:
        yield _failed("triggered", "no rule is triggered")
    claimed = task.published.claimed_rules if task.published else task.applicable
    for rule in claimed:
        if rule not in triggered:
            yield _failed("triggered", f"the task claims to test {rule}, but its reference does not trigger it")
    if not compare_states(environment, one.trace.initial, one.trace.initial, target):
        yield _failed("something to do", "the target state is the initial state")


def _instruction_findings(one: _ExaminedTask) -> Iterable[QualityFinding]:
    environment, calls = one.environment, literal_calls(one.environment, one.trace.calls)
    for style in one.task.styles:
        if style in one.written:
            yield from _written_findings(one, style)
            continue
        if not one.task.calls:
            detail = "an imported task does not record which values the user must state"
            yield QualityFinding(check="complete", answer="undecided", style=style, detail=detail)
        instruction = one.task.instructions[style]
        numbers = goal_calls(environment, one.trace.initial, calls) if style == "goal" else range(len(calls))
        for missing in find_missing(environment, calls, numbers, instruction.text):
            yield _failed("complete", f"the instruction does not state {missing}", style)
        ours = one.task.published is None
        for place, text in (("text", instruction.text), ("variables", str(instruction.variables))):
            for leak in find_leaks(environment, text, event_phrases=ours):
                yield _failed("leak-free", f"{place}: reveals a hidden step: {leak!r}", style)
        known = "\n".join([instruction.text, *map(str, scalars(dict(instruction.variables)))])
        for unknown in find_unknowable(environment, calls, numbers, known):
            yield _failed("solvable", f"{unknown} cannot be known", style)


_WRITTEN_CHECKS: Mapping[TextCheck, Check] = {
    "complete": "complete",
    "unambiguous": "unambiguous",
    "leak-free": "leak-free",
    "natural": "leak-free",  # it reveals the interface
}


def _written_findings(one: _ExaminedTask, style: Style) -> Iterable[QualityFinding]:
    checked, request = one.written[style], one.request
    for finding in checked.findings:
        yield _failed(_WRITTEN_CHECKS[finding.check], finding.detail, style)
    known = "\n".join([one.task.instructions[style].text, *checked.said])
    for unknown in find_unknowable(one.environment, request.calls, request.numbers(style), known):
        yield _failed("solvable", f"{unknown} cannot be known", style)


async def _read(context: StageContext, task: Task, *, offline: bool) -> Mapping[Style, RequestReading | None]:
    place = Context(stage="gate", role="independent_reader", task=task.id)
    return {
        style: await read_instruction(
            context.domain.environment,
            task.instructions[style],
            role_models=context.role_models,
            context=place,
            event_log=context.event_log,
        )
        for style in task.styles
        if not (offline and task.instructions[style].is_free)
    }


def _reading_findings(
    one: _ExaminedTask, readings: Mapping[Style, RequestReading | None], *, offline: bool
) -> Iterable[QualityFinding]:
    undecidable = offline and one.task.published is not None
    for style, reading in readings.items():
        if reading is None:
            yield QualityFinding(check="unambiguous", answer="undecided", style=style, detail="the reader failed")
            continue
        if reading.unclear:
            answer = "undecided" if offline else "failed"
            detail = f"the {'offline ' if offline else ''}reader cannot turn this into calls: {reading.unclear[0]}"
            yield QualityFinding(check="unambiguous", answer=answer, style=style, detail=detail)
            continue
        for objection in check_reader_calls(one.environment, one.trace, style, reading.calls):
            answer = "undecided" if undecidable else "failed"
            detail = f"{objection}; the offline reader knows only its own phrases" if undecidable else objection
            yield QualityFinding(check="unambiguous", answer=answer, style=style, detail=detail)


def _duplicates(examined: Sequence[_ExaminedTask]) -> dict[str, list[QualityFinding]]:
    """For each task, the earlier tasks that it duplicates."""
    found: dict[str, list[QualityFinding]] = {}
    by_calls: dict[str, str] = {}
    by_text: dict[tuple[Style, str], str] = {}
    for one in examined:
        task, findings = one.task, list[QualityFinding]()
        events = one.trace.events if task.declined else one.ran.events
        state = "" if task.contrast is None else f"{task.contrast.value} "
        calls = state + repr([(event.tool, sorted(event.arguments.items())) for event in events])
        if (twin := by_calls.setdefault(calls, task.id)) != task.id:
            findings.append(_failed("distinct", f"the reference makes the same calls as that of {twin}"))
        request = request_id(task)
        for style in task.styles:
            text, values = task.instructions[style].text, ""
            if style in one.written:
                text, values = one.written[style].outline, " but for its values"
            if (twin := by_text.setdefault((style, text), request)) != request:
                findings.append(_failed("distinct", f"the instruction equals that of {twin}{values}", style))
        found[task.id] = findings
    return found


def rules_behind_open_order(
    environment: Environment, events: Sequence[Event], applicable: Iterable[Rule], ungrounded: Collection[str]
) -> str:
    """The rules on which a verdict may turn although no reader of the texts can know which order they demand.

    They are the applicable rules with a constant that no text states (their ids are ``ungrounded``) and that see more
    than one of the changes of these events, whose order a goal leaves open.
    """
    changes = [event.tool for event in events if event.tool in environment.changing_tools]
    unknown = [rule for rule in applicable if rule.id in ungrounded]
    return ", ".join(r.id for r in unknown if sum(r.counts_steps or tool in r.tools for tool in changes) > 1)


def _order_findings(one: _ExaminedTask, ungrounded: Collection[str]) -> Iterable[QualityFinding]:
    task = one.task
    events = [call.event for call in task.calls] if "goal" in task.styles else []
    applicable = [rule for rule in task.rules if rule.id in task.applicable]
    if rules := rules_behind_open_order(one.environment, events, applicable, ungrounded):
        yield _failed(
            "open order", f"the goal leaves the order of its changes open, and no text states {rules}", "goal"
        )


def _compliance_findings(one: _ExaminedTask) -> Iterable[QualityFinding]:
    environment, calls = one.environment, one.task.planned or one.trace.calls
    breaking = partial(breaks_a_rule, environment, one.task.rules, one.trace.initial)
    for number, call in enumerate(calls):
        tool = call.event.tool
        if tool in environment.compliance_tools and not breaking(without_call(calls, number)):
            yield _failed("compliance needed", f"without call {number + 1}, {tool}, every rule is still kept")
    if one.task.calls:
        reference = Trace(one.trace.initial, one.task.planned, one.task.target(environment))
        for change in undetected_changes(environment, one.task.rules, reference):
            yield _failed("compliance needed", f"with {change} every rule is still kept")
    for style in one.task.styles:
        asked = requested_calls(environment, one.trace.initial, one.trace.calls, style)
        if not is_unlawful(environment, one.task.rules, one.trace.initial, asked):
            yield _failed("compliance needed", "a program with just the calls that it asks for breaks no law", style)


def _habit_findings(task: Task, habits: Sequence[HabitRow]) -> Iterable[QualityFinding]:
    for habit in habits:
        if task.contrast is not None and task.contrast.pair in habit.pairs_passed:
            yield _failed("habit", "the best habit passes both sides of its contrast pair", habit.style)
