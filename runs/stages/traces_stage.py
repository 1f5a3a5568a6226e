"""Rules to traces. The id of a trace depends on rules, mode, length, constraints and seed."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from lawtrace.environments.choices import TaskMode
from lawtrace.environments.errors import SearchError
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.types import Value
from lawtrace.runs.schemas.task_rows import Contrast, TraceRow
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.contrasts import ContrastPair, ContrastSearch
from lawtrace.solver.planner.difficulty import ANY_DIFFICULTY, Difficulty
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import NO_CONSTRAINTS, TraceConstraints
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.sequence_encoding import SolverUse

MAX_REQUESTS_PER_PAIR = 200
"""How many requests in a row may have no contrast before the search gives up."""

MOST_ALONE = 1
"""How many pairs ask for the same change and no other, where requests may have several."""
MOST_DRAWS = 8
"""How many further changes are drawn for a pair."""


def synthesize_traces(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    mode: TaskMode,
    length: int,
    count: int,
    seed: int,
    constraints: TraceConstraints = NO_CONSTRAINTS,
    difficulty: Difficulty = ANY_DIFFICULTY,
    on_trace: Callable[[], None] = lambda: None,
) -> list[TraceRow]:
    """Synthesise ``count`` traces. Traces made under different parameters have different ids, so a program is never
    judged on the wrong task.

    Contrast pairs are made whole: of an odd count one more trace.

    Raises InputError for a difficulty of other traces than contrast pairs, and SearchError.
    """
    difficulty.check(mode)
    constrained = [constraints.model_dump_json(exclude_defaults=True)] if constraints != NO_CONSTRAINTS else []
    bounded = [difficulty.model_dump_json(exclude_defaults=True)] if difficulty != ANY_DIFFICULTY else []
    made_under = "\n".join([*(str(rule.parsed) for rule in rules), mode, str(length), *constrained, *bounded])
    digest = hashlib.sha256(made_under.encode()).hexdigest()[:6]
    name = f"{environment.name}-{digest}-s{seed}"
    rows: list[TraceRow] = []
    if mode == "contrasts":
        pairs = contrast_pairs(environment, rules, count=(count + 1) // 2, seed=seed, difficulty=difficulty)
        for number, pair in enumerate(pairs, 1):
            for row in _pair_rows(environment, f"{name}-{number:03d}", pair):
                rows.append(row)
                on_trace()
        return rows
    traces = synthesize(environment, rules, count=count, length=length, seed=seed, mode=mode, constraints=constraints)
    for number, trace in enumerate(traces, 1):
        rows.append(TraceRow.of(f"{name}-{number:03d}", environment, mode, trace))
        on_trace()
    return rows


def contrast_pairs(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    count: int,
    seed: int,
    difficulty: Difficulty = ANY_DIFFICULTY,
    use: SolverUse | None = None,
) -> Iterator[ContrastPair]:
    """Yield ``count`` contrast pairs of different requests; facts that turned up less are tried first.

    Raises SearchError if the environment declares no facts, or requests have no contrast of that difficulty.
    """
    if not environment.facts:
        raise SearchError(
            f"environment {environment.name!r}: contrast pairs need facts that the law turns on; declare some "
            "(docs/environments.md), or use another trace mode"
        )
    writer = RequestWriter(environment)
    search = ContrastSearch(environment, rules, Completer(environment, rules, use=use), difficulty)
    facts, asked, alone = Counter[str](), Counter[str](), Counter[str]()
    for number in range(count):
        random, found = Random(f"{environment.name}/contrasts/{seed}/{number}"), None
        for _ in range(MAX_REQUESTS_PER_PAIR):
            initial = environment.populate(random)
            tool = min(writer.changes, key=lambda name: (asked[name], random.random()))
            asked[tool] += 1
            request = writer.draw(initial, [tool], random)
            if request is None:
                continue
            rare = sorted(environment.facts, key=lambda fact: (facts[fact.name], random.random()))
            found = next(search.pairs(initial, request, rare), None)
            if found is not None:
                facts[found.changed.fact.name] += 1
                fewest = 1 if alone[tool] < MOST_ALONE else min(2, difficulty.changes)
                wanted = random.randint(fewest, difficulty.changes)
                alone[tool] += wanted == 1
                yield _extended(search, writer, found, wanted - 1, asked, random)
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


def _pair_rows(environment: Environment, name: str, pair: ContrastPair) -> Iterator[TraceRow]:
    changed = pair.changed
    entity, field = changed.fact.entity, changed.fact.entity.fields[changed.fact.field]

    def shown(value: Value) -> object:
        return None if value is None else field.type.encode(value)

    before, after = shown(changed.before), shown(changed.after)
    place = {"pair": name, "fact": changed.fact.name, "table": entity.table, "key": changed.key}
    place["field"] = changed.fact.field
    proof: dict[str, object] = {}
    if pair.declined is not None:
        proof = {"declined": [obstacle.text for obstacle in pair.declined.obstacles], "longest": pair.declined.length}
    first = Contrast.model_validate({**place, "value": before, "other": after})
    second = Contrast.model_validate({**place, "value": after, "other": before, **proof})
    yield TraceRow.of(f"{name}a", environment, "contrasts", pair.granted, first)
    yield TraceRow.of(f"{name}b", environment, "contrasts", pair.other, second)
