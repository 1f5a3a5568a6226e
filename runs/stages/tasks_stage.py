"""Traces to tasks: instructions in both styles, a run of the reference program, and the quality gate."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from lawtrace.agents.concurrency import gather, run_in_worker_thread
from lawtrace.agents.conversations.instruction_writing import InstructionResult, write_instruction
from lawtrace.environments.progress import StageProgress
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.dockets import docket_instruction
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import run_program
from lawtrace.runs.stages.gate import Side, gate_findings
from lawtrace.runs.stages.habits import select_requests
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.tasks import Task, asked_trace, trace_of
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.errors import InputError, LawtraceError
from lawtrace.schemas.findings import TaskFunnel
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.task_rows import CallRow, TraceRow, request_id
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.habits.selection import MOST_ROUNDS
from lawtrace.solver.lint.rule_grounds import ungrounded_rules
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace, print_program


class BrokenReferenceError(LawtraceError):
    """A reference program behaves differently from its trace. A defect of lawtrace, so it stops the run."""


@dataclass(slots=True)
class BuiltTasks:
    """The accepted tasks, their traces, and the counts of the funnel."""

    tasks: list[Task] = field(default_factory=list[Task])
    references: list[TraceRow] = field(default_factory=list[TraceRow])
    traces: int = 0
    rounds: Counter[int] = field(default_factory=Counter[int])
    dropped: Counter[str] = field(default_factory=Counter[str])

    def funnel(self) -> TaskFunnel:
        return TaskFunnel(
            self.traces, len(self.references), dict(sorted(self.rounds.items())), dict(sorted(self.dropped.items()))
        )


async def build_tasks(context: StageContext, rules: Sequence[Rule], traces: Sequence[TraceRow]) -> BuiltTasks:
    """Turn traces into tasks, in order, until as many as the recipe wants are accepted or the traces run out.

    Conversations run concurrently. Which traces are used depends on acceptance alone, so the same answers give the same
    tasks. The sides of a contrast pair share their instructions, and are accepted together. Of more pairs than wanted,
    those that habits pass least come first.
    """
    count, progress = context.recipe.tasks.count, context.progress
    built, fitness = BuiltTasks(), _Fitness(context.domain, rules)
    waiting = iter(await run_in_worker_thread(lambda: _in_order(fitness, traces, count, progress)))
    with progress.stage("tasks", count) as on_task:
        while wave := _next_wave(built, fitness, waiting, count - len(built.tasks)):
            pairs = await _write_pairs(context, [rows[0] for rows in wave])
            for rows, pair in zip(wave, pairs, strict=True):
                await run_in_worker_thread(partial(_accept_pair, built, fitness, rows, pair, context.sandbox))
                for _ in rows:
                    on_task()
    return built


WrittenPair = dict[Style, InstructionResult]
"""The instructions of a request in both styles; the second is missing if the first was not accepted."""


Request = tuple[TraceRow, ...]
"""The traces of one request: one, or the two sides of a contrast pair, of which the first carries the request out."""


def _units(traces: Sequence[TraceRow]) -> list[Request]:
    """The traces by request; of a contrast pair only if both sides are there."""
    units: dict[str, list[TraceRow]] = {}
    for row in traces:
        units.setdefault(request_id(row), []).append(row)
    return [tuple(rows) for rows in units.values() if rows[0].contrast is None or len(rows) == 2]


class _Fitness:
    """Whether requests are usable, found once for each."""

    def __init__(self, domain: Domain, rules: Sequence[Rule]) -> None:
        self.environment: Final = domain.environment
        self.rules: Final = rules
        self.ungrounded: Final = ungrounded_rules(domain.environment, domain.regulation, rules)
        self._reasons: Final[dict[str, str | None]] = {}

    def reason(self, rows: Request) -> str | None:
        """Why a request is unusable, as a reason for the funnel; None if it is usable."""
        request = request_id(rows[0])
        if request not in self._reasons:
            self._reasons[request] = self._reason(rows)
        return self._reasons[request]

    def _reason(self, rows: Request) -> str | None:
        if rows[0].docket is not None:
            return None  # what makes a docket usable was shown when it was drawn
        tasks = [self.task(row, rows[0]) for row in rows]
        asked = asked_trace(rows[0], self.environment)
        sides = [
            Side(task, trace_of(row, self.environment), asked, STYLES) for task, row in zip(tasks, rows, strict=True)
        ]
        found = gate_findings(self.environment, sides, self.ungrounded, thorough=False)
        return next((finding.reason for _, finding in found if finding.answer == "failed"), None)

    def task(self, row: TraceRow, asked: TraceRow) -> Task:
        """The task of a trace without program and instructions. `asked`: the trace that the request is made from."""
        return Task(
            id=row.id,
            environment=self.environment.name,
            environment_version=self.environment.version,
            rules=tuple(self.rules),
            applicable=(),
            initial_state=row.initial_state,
            target_state=row.final_state,
            ends=row.ends,
            calls=row.calls,
            asked_calls=_asked_calls(row, asked),
            contrast=row.contrast,
            harbour=row.harbour,
            docket=row.docket,
            program="",
            instructions={},
        )


def _asked_calls(row: TraceRow, asked: TraceRow) -> tuple[CallRow, ...]:
    """What is asked, where the row declines it, and the look at the queue of a docket."""
    if row.harbour is not None:
        return row.harbour.asked
    if row.docket is not None:
        return row.calls[:1]
    return asked.calls if row.contrast is not None and row.contrast.declined else ()


def _in_order(fitness: _Fitness, traces: Sequence[TraceRow], count: int, progress: StageProgress) -> list[Request]:
    """The requests in the order in which they are tried: selected contrast pairs first."""
    for row in traces:  # before any paid call
        _check_made_under(fitness.environment, fitness.rules, row)
    units = _units(traces)
    if sum(map(len, units)) <= count or any(len(rows) < 2 for rows in units):
        return units
    with progress.stage("selection of pairs", len(units) + MOST_ROUNDS) as step:
        usable: list[Request] = []
        for rows in units:
            if fitness.reason(rows) is None:
                usable.append(rows)
            step()
        selected = select_requests(fitness.environment, fitness.rules, usable, (count + 1) // 2, step)
    chosen = [usable[number] for number in selected]
    return [*chosen, *(rows for rows in units if rows not in chosen)]


def _next_wave(built: BuiltTasks, fitness: _Fitness, waiting: Iterator[Request], size: int) -> list[Request]:
    """The next usable requests for so many tasks; unusable ones are dropped and counted."""
    wave: list[Request] = []
    while sum(map(len, wave)) < size and (rows := next(waiting, None)) is not None:
        reason = fitness.reason(rows)
        if reason is None:
            wave.append(rows)
        else:
            built.traces += len(rows)
            built.dropped[reason] += len(rows)
    return wave


async def write_pair(context: StageContext, row: TraceRow) -> WrittenPair:
    """Write the instructions of a request, by the recipe of a run."""
    environment, conversation = context.domain.environment, context.recipe.conversation
    trace, pair = asked_trace(row, environment), WrittenPair()
    if row.docket is not None:  # there are no words to choose, and nothing to hide
        pair["goal"] = InstructionResult(docket_instruction(environment, trace), 1, "accepted")
        return pair
    for style in STYLES:
        pair[style] = await write_instruction(
            environment,
            trace,
            style,
            context=_pair_context(row, context.variant),
            role_models=context.role_models,
            event_log=context.event_log,
            most_rounds=conversation.rounds,
            evaluator=conversation.evaluator,
        )
        if pair[style].instruction is None:
            break  # a pair needs both instructions: do not pay for the other
    return pair


def _pair_context(row: TraceRow, variant: str | None) -> Context:
    return Context(stage="tasks", role="instruction_generator", task=row.id, variant=variant)


async def _write_pairs(context: StageContext, rows: Sequence[TraceRow]) -> list[WrittenPair]:
    """The instructions of the requests, as many at a time as the recipe has calls."""
    slots = asyncio.Semaphore(context.recipe.conversation.concurrency)

    async def write(row: TraceRow) -> WrittenPair:
        async with slots:
            return await write_pair(context, row)

    return await gather(map(write, rows))


def _accept_pair(built: BuiltTasks, fitness: _Fitness, rows: Request, pair: WrittenPair, sandbox: Sandbox) -> None:
    environment = fitness.environment
    built.traces += len(rows)
    # A pair passes only if both of its instructions pass (P 4.2).
    rejected = [
        f"{style}: {written.ending}{written.why and f' ({written.why})'}"
        for style, written in pair.items()
        if written.instruction is None
    ]
    if rejected:
        built.dropped[rejected[0]] += len(rows)
        return
    instructions: dict[Style, Instruction] = {
        style: written.instruction for style, written in pair.items() if written.instruction is not None
    }
    sides = [trace_of(row, environment) for row in rows]
    for written in pair.values():
        built.rounds[written.rounds] += 1
    rounds: dict[Style, int] = {style: written.rounds for style, written in pair.items()}
    built.references += rows
    built.tasks += [
        _task(fitness, row, side, rows[0], instructions, rounds, sandbox) for row, side in zip(rows, sides, strict=True)
    ]


def _check_made_under(environment: Environment, rules: Sequence[Rule], row: TraceRow) -> None:
    """Raise InputError for a trace made under other rules or another declaration."""
    trace = trace_of(row, environment)
    session = Session(environment, trace.initial)
    for event in trace.events:
        if session.call(event.tool, event.arguments).event != event:
            raise InputError(f"trace {row.id}: {event.tool} now behaves differently; synthesize the traces again")
    for verdict in judge_rules(rules, trace.events, (), end=session.end):
        if not verdict.kept:
            raise InputError(
                f"trace {row.id} breaks the rule {verdict.rule!r} (made with other rules); synthesize the traces again"
            )


def _task(
    fitness: _Fitness,
    row: TraceRow,
    trace: Trace,
    asked_row: TraceRow,
    instructions: dict[Style, Instruction],
    rounds: dict[Style, int],
    sandbox: Sandbox,
) -> Task:
    environment, rules, asked = fitness.environment, fitness.rules, asked_trace(asked_row, fitness.environment)
    program = print_program(environment, trace.calls)
    ran = run_program(sandbox, environment, trace.initial, program, {})
    verdicts = judge_rules(rules, ran.events, (), end=ran.end)
    reached = encode_state(ran.final, environment.entities) == row.final_state
    if ran.execution.died or not reached or not all(verdict.kept for verdict in verdicts):
        trouble = ran.execution.error or "it reaches another state or breaks a rule"
        raise BrokenReferenceError(
            f"task {row.id}: its reference program differs from its trace: {trouble}; "
            f"environment {environment.name!r} is defective, please report it with the seed"
        )
    task = fitness.task(row, asked_row)
    literal: dict[Style, str] = (
        {
            style: print_program(environment, requested_calls(environment, asked.initial, asked.calls, style))
            for style in STYLES
        }
        if row.docket is None
        else {"goal": print_program(environment, task.requested)}
    )
    return task.model_copy(
        update={
            "applicable": tuple(verdict.rule for verdict in verdicts if verdict.triggered),
            "program": program,
            "literal": literal,
            "instructions": instructions,
            "rounds": rounds,
        }
    )
