"""Explanations of proofs in words: names, steps, preconditions."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool
from lawtrace.schemas.events import Event, known_parts
from lawtrace.solver.search.problem import Proof
from lawtrace.solver.search.products.call_scopes import AbstractCall


def step_texts(steps: Sequence[AbstractCall] | Sequence[Event]) -> tuple[str, ...]:
    """The steps of a trace, a line each."""
    return tuple(call_text(step) if isinstance(step, Event) else str(step) for step in steps)


def call_text(event: Event) -> str:
    """A call in one line: `2026-03-02 09:00 Pay(amount=20) -> {"id": "A"}`; the time only where it is known."""
    when = ""
    if event.time is not None:
        time = datetime.fromtimestamp(event.time, UTC)
        when = f"{time:%Y-%m-%d %H:%M:%S} " if time.second else f"{time:%Y-%m-%d %H:%M} "
    given = {**event.arguments, **{f"by.{name}": value for name, value in known_parts(event.by).items()}}
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in given.items())
    result = f" -> {json.dumps(event.result)}" if event.result else ""
    return f"{when}{event.tool}{f'({arguments})' if arguments else ''}{result}{'' if event.completed else ' refused'}"


def join_names(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def describe_proof(proof: Proof[Sequence[AbstractCall] | Sequence[Event]]) -> str:
    """Why no such trace exists; each rule named is necessary for that."""
    scope = {
        "free": "sequences of calls of any length",
        "environment": "sequences of calls of any length that meet the environment's preconditions",
    }[proof.scope]
    states = "the only state" if proof.nodes == 1 else f"all {proof.nodes} states"
    sentences = [proof.shown or f"Proved for {scope}: a search through {states} found no exception."]
    for rule, trace in proof.without.items():
        sentences.append(f"Without {rule} there is one: {', '.join(step_texts(trace)) or 'the empty trace'}.")
    if proof.undecided:
        sentences.append(f"Whether {join_names(proof.undecided)} could be left out was not decided.")
    return " ".join(sentences)


def describe_preconditions(environment: Environment, tools: Iterable[str]) -> str:
    """One sentence for each precondition of these tools, in the order of the environment."""
    wanted = set(tools)
    return " ".join(
        sentence
        for name, tool in environment.tools.items()
        if name in wanted
        for sentence in _tool_preconditions(environment, tool)
    )


def _tool_preconditions(environment: Environment, tool: Tool) -> list[str]:
    sources = [parameter.source for parameter in tool.parameters]
    entities = {source.entity.table: source.entity for source in sources if isinstance(source, FromLookup)}
    counts = Counter(source.entity.table for source in sources if isinstance(source, FromLookup))
    sentences: list[str] = []
    for table, count in counts.items():
        lookups = [
            name
            for name, other in environment.tools.items()
            if any(r.entity.table == table for r in other.revealing_results)
        ]
        rows = _with_article(entities[table].singular) if count == 1 else f"{count} {table}"
        how = f"{' or '.join(lookups)} must have looked up" if lookups else "no tool looks up"
        sentences.append(f"{tool.name} refers to {rows}, which {how}.")
    if any(isinstance(source, FromTrace) for source in sources):
        emitting = " or ".join(name for name, other in environment.tools.items() if other.emits)
        how = f"after {emitting}" if emitting else "and no tool leaves anything pending"
        sentences.append(f"{tool.name} records what is pending, {how}.")
    return sentences


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
