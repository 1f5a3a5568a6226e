"""Rules to traces, each with an id that tells which rules, profile, length, wishes and seed it was made under."""

import hashlib
from collections.abc import Callable, Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.runs.stages.rows import TraceRow
from lawtrace.solver.demands import NO_WISHES, Wishes
from lawtrace.solver.profiles import Profile
from lawtrace.solver.rules import Rule
from lawtrace.solver.synthesis import synthesize


def synthesize_rows(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    profile: Profile,
    length: int,
    count: int,
    seed: int,
    wishes: Wishes = NO_WISHES,
    on_trace: Callable[[], None] = lambda: None,
) -> list[TraceRow]:
    """Synthesise ``count`` traces. Two traces that differ in anything asked for have different ids, so that programs
    can never be judged on the wrong task."""
    wished = [wishes.model_dump_json(exclude_defaults=True)] if wishes != NO_WISHES else []
    made_under = "\n".join([*(str(rule.parsed) for rule in rules), profile, str(length), *wished])
    digest = hashlib.sha256(made_under.encode()).hexdigest()[:6]
    rows: list[TraceRow] = []
    traces = synthesize(environment, rules, count=count, length=length, seed=seed, profile=profile, wishes=wishes)
    for number, trace in enumerate(traces, 1):
        rows.append(TraceRow.of(f"{environment.name}-{digest}-s{seed}-{number:03d}", environment, profile, trace))
        on_trace()
    return rows
