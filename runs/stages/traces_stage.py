"""Rules to traces. The id of a trace depends on rules, mode, length, constraints and seed."""

import hashlib
from collections.abc import Callable, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.schemas.task_rows import TraceRow
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import NO_CONSTRAINTS, TraceConstraints, TraceMode
from lawtrace.solver.rules import Rule


def synthesize_traces(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    mode: TraceMode,
    length: int,
    count: int,
    seed: int,
    constraints: TraceConstraints = NO_CONSTRAINTS,
    on_trace: Callable[[], None] = lambda: None,
) -> list[TraceRow]:
    """Synthesise ``count`` traces. Traces made under different parameters have different ids, so a program is never
    judged on the wrong task."""
    constrained = [constraints.model_dump_json(exclude_defaults=True)] if constraints != NO_CONSTRAINTS else []
    made_under = "\n".join([*(str(rule.parsed) for rule in rules), mode, str(length), *constrained])
    digest = hashlib.sha256(made_under.encode()).hexdigest()[:6]
    rows: list[TraceRow] = []
    traces = synthesize(environment, rules, count=count, length=length, seed=seed, mode=mode, constraints=constraints)
    for number, trace in enumerate(traces, 1):
        rows.append(TraceRow.of(f"{environment.name}-{digest}-s{seed}-{number:03d}", environment, mode, trace))
        on_trace()
    return rows
