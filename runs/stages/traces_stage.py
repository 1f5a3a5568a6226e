"""Rules to traces. The id of a trace depends on rules, mode, length, constraints and seed."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Self

from lawtrace.agents.concurrency import gather, run_in_worker_thread
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state
from lawtrace.environments.spec.types import Value
from lawtrace.runs.dockets import docket_traces
from lawtrace.runs.stages.artifacts import RULES
from lawtrace.runs.stages.stage import StageContext, StageInputs
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.store.stage_store import Products
from lawtrace.runs.tasks import call_rows, task_mode, trace_row
from lawtrace.schemas.choices import TaskMode
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, Origin, SaidByUser
from lawtrace.schemas.recipe import DEFAULT_DOCKET, PART_SIZE, DocketOptions
from lawtrace.schemas.task_rows import Contrast, End, Harbour, TraceRow
from lawtrace.schemas.trace_options import ANY_DIFFICULTY, NO_CONSTRAINTS, Difficulty, TraceConstraints
from lawtrace.solver.coverage.harbours import HarbourSearch, PlannedHarbour
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.contrasts import ContrastPair, ContrastSearch
from lawtrace.solver.planner.ends import PlannedEnd
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import check_difficulty
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace, print_program

MAX_REQUESTS_PER_PAIR = 200
"""How many requests in a row may have no contrast before the search gives up."""

MAX_REQUESTS_PER_POINT = 20
"""How many requests may turn on no new fact before a known one is taken."""

MAX_REQUESTS_PER_HARBOUR = 40
"""How many requests in a row may have no new safe harbour before the search takes a known kind, or gives up."""
MOST_OF_A_KIND = 4
"""How many safe harbours of known kinds are found before one of them is taken."""
MORE_OF_A_KIND = 2
"""How many requests more for a change are tried after one for it had a safe harbour."""
MOST_DRAWS = 8
"""How many further changes are drawn for a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePlan:
    """Which traces are made, and in which parts.

    Attributes:
        count: how many; contrast pairs are made whole, so of an odd count one more.
        part_size: how many traces are chosen with regard to each other. The parts are independent of each other, so
            other processes can make them; a distance between any two traces makes all one part.
    """

    mode: TaskMode
    length: int
    count: int
    seed: int
    part_size: int = PART_SIZE
    constraints: TraceConstraints = NO_CONSTRAINTS
    difficulty: Difficulty = ANY_DIFFICULTY
    docket: DocketOptions = DEFAULT_DOCKET

    @classmethod
    def of(cls, inputs: StageInputs) -> Self:
        """The plan of a recipe. Raises InputError for a difficulty of other traces than contrast pairs."""
        recipe, options = inputs.recipe, inputs.recipe.tasks
        mode = task_mode(options, inputs.domain.environment)
        plan = cls(
            mode=mode,
            length=options.length,
            count=options.count + (0 if mode == "dockets" else options.spare),  # no docket fails for its words
            seed=recipe.seed,
            part_size=options.part_size,
            constraints=options.constraints,
            difficulty=options.difficulty,
            docket=options.docket,
        )
        check_difficulty(plan.difficulty, plan.mode)
        return plan

    @property
    def rows(self) -> int:
        """How many traces a number stands for: both sides of a contrast pair have one."""
        return 2 if self.mode == "contrasts" else 1

    def parts(self) -> list[range]:
        """The numbers of the traces of each part, counted from 0."""
        numbers, size = -(-self.count // self.rows), -(-self.part_size // self.rows)
        if self.constraints.distance:
            size = numbers
        return [range(first, min(first + size, numbers)) for first in range(0, numbers, size)]


def synthesize_traces(
    environment: Environment,
    rules: Sequence[Rule],
    plan: TracePlan,
    part: range,
    on_trace: Callable[[], None] = lambda: None,
) -> list[TraceRow]:
    """Synthesise the traces of a part. Traces made under different parameters have different ids, so a program is
    never judged on the wrong task.

    Raises SearchError.
    """
    name = f"{environment.name}-{_digest(rules, plan)}-s{plan.seed}"
    rows: list[TraceRow] = []
    if plan.mode == "contrasts":
        pairs = contrast_pairs(environment, rules, numbers=part, seed=plan.seed, difficulty=plan.difficulty)
        for number, pair in zip(part, pairs, strict=True):
            for row in _pair_rows(environment, f"{name}-{number + 1:03d}", pair):
                rows.append(row)
                on_trace()
        return rows
    if plan.mode == "safe-harbour":
        found = safe_harbours(environment, rules, numbers=part, seed=plan.seed)
        for number, harbour in zip(part, found, strict=True):
            rows.append(_harbour_row(environment, f"{name}-{number + 1:03d}", harbour))
            on_trace()
        return rows
    if plan.mode == "dockets":
        for row in docket_traces(environment, rules, name, part, plan.seed, plan.docket):
            rows.append(row)
            on_trace()
        return rows
    traces = synthesize(
        environment,
        rules,
        count=len(part),
        first=part.start,
        length=plan.length,
        seed=plan.seed,
        mode=plan.mode,
        constraints=plan.constraints,
    )
    for number, trace in zip(part, traces, strict=True):
        rows.append(trace_row(f"{name}-{number + 1:03d}", environment, plan.mode, trace))
        on_trace()
    return rows


def _digest(rules: Sequence[Rule], plan: TracePlan) -> str:
    """What the ids of traces say of rules and plan. The number of traces is not in it: more begin with the same."""
    made_under = [*(str(rule.parsed) for rule in rules), plan.mode, str(plan.length)]
    bounds_of = (plan.constraints, NO_CONSTRAINTS), (plan.difficulty, ANY_DIFFICULTY), (plan.docket, DEFAULT_DOCKET)
    for bounds, none in bounds_of:
        if bounds != none:
            made_under.append(bounds.model_dump_json(exclude_defaults=True))
    if plan.part_size != PART_SIZE:
        made_under.append(f"parts of {plan.part_size}")
    return hashlib.sha256("\n".join(made_under).encode()).hexdigest()[:6]


async def make_traces(
    context: StageContext, products: Products, parts: Sequence[range], on_trace: Callable[[], None]
) -> list[TraceRow]:
    """The traces of some parts of the plan of a run, made by the cluster if there is one and several parts."""
    if context.cluster is not None and len(parts) > 1:
        make = context.cluster.maker(StageJob[range, list[TraceRow]].of(context, products, (RULES,), prepare_parts))

        async def counted(part: range) -> list[TraceRow]:
            rows = await make(part)
            for _ in rows:
                on_trace()
            return rows

        return [row for rows in await gather(map(counted, parts)) for row in rows]
    environment, rules, plan = context.domain.environment, products[RULES], TracePlan.of(context)
    return await run_in_worker_thread(
        lambda: [row for part in parts for row in synthesize_traces(environment, rules, plan, part, on_trace)]
    )


def prepare_parts(context: StageContext, products: Products, _: ExitStack) -> Callable[[range], list[TraceRow]]:
    """A worker's parts of the plan of a run."""
    environment, rules, plan = context.domain.environment, products[RULES], TracePlan.of(context)
    return lambda part: synthesize_traces(environment, rules, plan, part)


def contrast_pairs(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    numbers: range,
    seed: int,
    difficulty: Difficulty = ANY_DIFFICULTY,
) -> Iterator[ContrastPair]:
    """Yield the contrast pairs of these numbers, on a new fact for a tool as long as one is found within
    `MAX_REQUESTS_PER_POINT` requests. Tools whose requests turn on further facts are asked for more often.

    Raises SearchError if the environment declares no facts, or requests have no contrast of that difficulty.
    """
    if not environment.facts:
        raise SearchError(
            f"environment {environment.name!r}: contrast pairs need facts that the law turns on; declare some "
            "(docs/environments.md), or use another trace mode"
        )
    writer = RequestWriter(environment)
    search = ContrastSearch(environment, rules, Completer(environment, rules), difficulty)
    facts, asked, seen = Counter[str](), Counter[str](), set[tuple[str, str]]()
    for number in numbers:
        random, found = Random(f"{environment.name}/contrasts/{seed}/{number}"), None
        for drawn in range(MAX_REQUESTS_PER_PAIR):
            initial = environment.populate(random)
            tool = min(writer.changes, key=lambda name: (asked[name], random.random()))
            asked[tool] += 1
            request = writer.draw(initial, [tool], random)
            if request is None:
                continue
            rare = sorted(environment.facts, key=lambda fact: (facts[fact.name], random.random()))
            if drawn < MAX_REQUESTS_PER_POINT:
                rare = [fact for fact in rare if (tool, fact.name) not in seen]
            found = next(search.pairs(initial, request, rare), None)
            if found is not None:
                facts[found.changed.fact.name] += 1
                if (point := (tool, found.changed.fact.name)) not in seen:
                    asked[tool] -= 1
                    seen.add(point)
                yield _extended(search, writer, found, random.randint(1, difficulty.changes) - 1, asked, random)
                break
        if found is None:
            raise SearchError(
                f"environment {environment.name!r}: {MAX_REQUESTS_PER_PAIR} requests in a row have no contrast"
                f"{'' if difficulty == ANY_DIFFICULTY else ' of this difficulty'}; {number} pairs were found"
            )


def _extended(
    search: ContrastSearch, writer: RequestWriter, pair: ContrastPair, further: int, asked: Counter[str], random: Random
) -> ContrastPair:
    """The pair with so many further changes in its request, or fewer if no draw of a few finds more."""
    for _ in range(MOST_DRAWS):
        if not further:
            break
        tool = min(writer.changes, key=lambda name: asked[name] + random.randrange(len(writer.changes)))
        request = writer.draw(pair.granted.initial, [tool], random)
        longer = None if request is None else search.extend(pair, request)
        if longer is not None:
            asked[tool] += 1
            pair, further = longer, further - 1
    return pair


def safe_harbours(
    environment: Environment, rules: Sequence[Rule], *, numbers: range, seed: int
) -> Iterator[PlannedHarbour]:
    """Yield the requests with a safe harbour of these numbers, of different decision points as long as some are found.

    Raises SearchError if the law has no open questions, or requests about them have no safe harbour.
    """
    writer = RequestWriter(environment)
    search = HarbourSearch(environment, rules, Completer(environment, rules))
    if not search.questions:
        raise SearchError(
            f"environment {environment.name!r}: a safe harbour needs law that is contested, and no rule has an open "
            "question; add some (docs/readings.md), or use another trace mode"
        )
    points, asked, drawn = Counter[tuple[object, ...]](), Counter[str](), set[str]()
    for number in numbers:
        random, known = Random(f"{environment.name}/safe-harbour/{seed}/{number}"), list[PlannedHarbour]()
        for _ in range(MAX_REQUESTS_PER_HARBOUR):
            initial = environment.populate(random)
            tool = min(search.changes, key=lambda name: (asked[name], random.random()))
            asked[tool] += 1
            request = writer.draw(initial, [tool], random)
            found = None if request is None else search.harbour(initial, request)
            if found is not None and repr(found.requested) not in drawn:
                known.append(found)
                asked[tool] -= MORE_OF_A_KIND  # where there is one, there may be others
                if not points[_decision_point(environment, found)]:
                    break
                if len(known) == MOST_OF_A_KIND:
                    break
        if not known:
            raise SearchError(
                f"environment {environment.name!r}: {MAX_REQUESTS_PER_HARBOUR} requests in a row have no safe harbour; "
                f"{number} were found, and the law has the open questions {', '.join(search.questions)}"
            )
        chosen = min(known, key=lambda one: points[_decision_point(environment, one)])
        points[_decision_point(environment, chosen)] += 1
        drawn.add(repr(chosen.requested))
        yield chosen


def _decision_point(environment: Environment, harbour: PlannedHarbour) -> tuple[object, ...]:
    """The questions, what is asked, whether it is declined, and by what the other course differs."""
    changes = {call.event.tool for call in harbour.requested} & environment.changing_tools
    tools, other = Counter(harbour.end.trace.tools), Counter(event.tool for event in harbour.arguable)
    return harbour.questions, frozenset(changes), harbour.end.declined, frozenset((tools - other) + (other - tools))


def _harbour_row(environment: Environment, name: str, harbour: PlannedHarbour) -> TraceRow:
    end = harbour.end
    other = print_program(environment, [PlannedCall(one, _said(one)) for one in harbour.arguable])
    asked = call_rows(harbour.requested) if end.declined is not None else ()
    label = Harbour(questions=harbour.questions, other=other, asked=asked)
    ends = end_rows(environment, end.trace, harbour.ends)
    row = trace_row(name, environment, "safe-harbour", end.trace)
    return row.model_copy(update={"harbour": label, "ends": ends})


def _said(event: Event) -> dict[str, Origin]:
    return {name: SaidByUser() for name in event.arguments}


def _pair_rows(environment: Environment, name: str, pair: ContrastPair) -> Iterator[TraceRow]:
    changed = pair.changed
    entity, field = changed.fact.entity, changed.fact.entity.fields[changed.fact.field]

    def shown(value: Value) -> object:
        return None if value is None else field.type.encode(value)

    before, after = shown(changed.before), shown(changed.after)
    place: dict[str, object] = {"pair": name, "fact": changed.fact.name, "table": entity.table, "key": str(changed.key)}
    place.update(field=changed.fact.field, request=pair.about, rules=pair.turns_on)
    proof: dict[str, object] = {}
    if pair.declined is not None:
        proof = {"declined": [obstacle.text for obstacle in pair.declined.core], "longest": pair.declined.calls}
    first = Contrast.model_validate({**place, "value": before, "other": after})
    second = Contrast.model_validate({**place, "value": after, "other": before, **proof})
    yield trace_row(f"{name}a", environment, "contrasts", pair.granted, first)
    ends = end_rows(environment, pair.other, pair.ends)
    yield trace_row(f"{name}b", environment, "contrasts", pair.other, second).model_copy(update={"ends": ends})


def end_rows(environment: Environment, reference: Trace, ends: Sequence[PlannedEnd]) -> tuple[End, ...]:
    """The rows of the ends of a request; none if the target state, which the reference reaches, is the only one."""
    states = [None if end.trace == reference else encode_state(end.trace.final, environment.entities) for end in ends]
    found = (End(declined=end.declined, state=of, under=end.under) for end, of in zip(ends, states, strict=True))
    return () if states == [None] and not ends[0].under else tuple(found)
