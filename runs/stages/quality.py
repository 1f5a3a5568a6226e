"""The checks of finished tasks: those of the gate (`lawtrace.runs.stages.gate`) on what the reference program does, and
those of the instructions, each passed, failed or undecided.

    complete       each instruction states every value that its literal calls need from the user
    unambiguous    a reader of the instruction and the documentation derives the same calls (goal: the same state)
    leak-free      neither instruction nor variables reveal a hidden step
    distinct       no other task has the same calls, or the same instruction
    solvable       every argument of the reference can be known: stated, in an earlier result, documented, or derived
    habit          the best habit does not pass both sides of a contrast pair, in either style; no dispatch rule leads
                   to a lawful schedule of a docket

A docket asks for all that is open, so only *reference*, *distinct* and *habit* are checked.

Where the reference declines, the checks of the
instruction use the trace that the request was made from. The sides of a contrast pair have the same instruction.

The offline reader knows only the offline writer's phrases. Another text that it cannot read is undecided, not failed; a
model as independent reader decides it. Code decides *unambiguous* for a text that a model wrote freely, and a model
 as reader reads it as well (`lawtrace.solver.masking.text_checks`). An imported task does not record which
values come from the user, so *complete* is undecided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lawtrace.agents.concurrency import gather
from lawtrace.agents.conversations.instruction_writing import read_instruction
from lawtrace.agents.roles.instruction_roles import RequestReading
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.dockets import passing_rules
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import ProgramResult, run_program
from lawtrace.runs.stages.gate import Side, failed, gate_findings
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import scalars
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.quality_rows import Check, QualityFinding, QualityRow
from lawtrace.schemas.task_rows import request_id
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.lint.rule_grounds import ungrounded_rules
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import check_reader_calls, find_leaks, find_missing, find_unknowable
from lawtrace.solver.masking.requests import AskedRequest, Secret
from lawtrace.solver.masking.text_checks import CheckedText, TextCheck, check_text
from lawtrace.solver.traces import PlannedCall, Trace, literal_calls


@dataclass(frozen=True)
class _ExaminedTask:
    """A task with the result of its reference program and the requested trace."""

    environment: Environment
    task: Task
    ran: ProgramResult
    trace: Trace

    @cached_property
    def reference(self) -> Trace:
        """What the reference program does. Its arguments have origins as far as it makes the calls of the task."""
        calls = self.task.planned
        if tuple(call.event for call in calls) != tuple(self.ran.events):
            calls = tuple(PlannedCall(event, {}) for event in self.ran.events)
        return Trace(self.trace.initial, calls, self.ran.final)

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
    gated = _gated(domain, [one for one in examined if one.task.docket is None])

    async def row(one: _ExaminedTask) -> QualityRow:
        if one.task.docket is not None:
            of_docket = (*_program_findings(one), *_docket_findings(one), *twins.get(one.task.id, ()))
            on_task()
            return QualityRow(task=one.task.id, findings=of_docket)
        readings = await _read(context, one.task, offline=offline)
        findings = (
            *_program_findings(one),
            *gated.get(one.task.id, ()),
            *_instruction_findings(one),
            *_reading_findings(one, readings, offline=offline),
            *twins.get(one.task.id, ()),
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


def _program_findings(one: _ExaminedTask) -> Iterable[QualityFinding]:
    if one.ran.execution.died:
        yield failed("reference", f"the program did not finish: {one.ran.execution.error}")


def _gated(domain: Domain, examined: Sequence[_ExaminedTask]) -> dict[str, list[QualityFinding]]:
    """The findings of the gate, by task."""
    environment, found = domain.environment, dict[str, list[QualityFinding]]()
    ungrounded = {
        rules: ungrounded_rules(environment, domain.regulation, rules) for rules in {one.task.rules for one in examined}
    }
    requests: dict[str, list[_ExaminedTask]] = {}
    for one in examined:
        requests.setdefault(request_id(one.task), []).append(one)
    for sides in requests.values():
        ready = [Side(one.task, one.reference, one.trace, one.task.styles) for one in sides]
        for task, finding in gate_findings(environment, ready, ungrounded[sides[0].task.rules]):
            found.setdefault(task, []).append(finding)
    return found


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
            yield failed("complete", f"the instruction does not state {missing}", style)
        ours = one.task.published is None
        for place, text in (("text", instruction.text), ("variables", str(instruction.variables))):
            for leak in find_leaks(environment, text, event_phrases=ours):
                yield failed("leak-free", f"{place}: reveals a hidden step: {leak!r}", style)
        known = "\n".join([instruction.text, *map(str, scalars(dict(instruction.variables)))])
        for unknown in find_unknowable(environment, calls, numbers, known):
            yield failed("solvable", f"{unknown} cannot be known", style)


_WRITTEN_CHECKS: Mapping[TextCheck, Check] = {
    "complete": "complete",
    "unambiguous": "unambiguous",
    "leak-free": "leak-free",
    "natural": "leak-free",  # it reveals the interface
}


def _written_findings(one: _ExaminedTask, style: Style) -> Iterable[QualityFinding]:
    checked, request = one.written[style], one.request
    for finding in checked.findings:
        yield failed(_WRITTEN_CHECKS[finding.check], finding.detail, style)
    known = "\n".join([one.task.instructions[style].text, *checked.said])
    for unknown in find_unknowable(one.environment, request.calls, request.numbers(style), known):
        yield failed("solvable", f"{unknown} cannot be known", style)


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
            findings.append(failed("distinct", f"the reference makes the same calls as that of {twin}"))
        request = request_id(task)
        for style in task.styles if task.docket is None else ():
            text, values = task.instructions[style].text, ""
            if style in one.written:
                text, values = one.written[style].outline, " but for its values"
            if (twin := by_text.setdefault((style, text), request)) != request:
                findings.append(failed("distinct", f"the instruction equals that of {twin}{values}", style))
        found[task.id] = findings
    return found


def _docket_findings(one: _ExaminedTask) -> Iterable[QualityFinding]:
    task, ran = one.task, one.ran
    for difference in compare_states(one.environment, one.trace.initial, task.target(one.environment), ran.final):
        yield failed("reference", f"the program misses the target: {difference}")
    for verdict in judge_rules(task.rules, ran.events, (), end=ran.end):
        if not verdict.kept:
            yield failed("reference", f"the program does not keep {verdict.rule}: {verdict.explanation}")
    for name in passing_rules(one.environment, task):
        yield failed("habit", f"the dispatch rule {name!r} leads to a lawful schedule")


def _habit_findings(task: Task, habits: Sequence[HabitRow]) -> Iterable[QualityFinding]:
    for habit in habits:
        if task.contrast is not None and task.contrast.pair in habit.pairs_passed:
            yield failed("habit", "the best habit passes both sides of its contrast pair", habit.style)
