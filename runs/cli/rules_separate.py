"""``lawtrace rules separate`` and ``lawtrace rules mutants``: traces that two rule sets judge differently."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, assert_never

import typer
from pydantic import TypeAdapter
from rich.console import RenderableType

from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.cli.options import EnvironmentOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.coverage.rule_mutants import RuleMutant, rule_mutants
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import Rule, check_rules, load_rules
from lawtrace.solver.search.problem import Found, Proof, Unknown
from lawtrace.solver.separation.answers import SeparatingTrace, Separation
from lawtrace.solver.separation.separation import Separator
from lawtrace.solver.trace_notation import tell_session

_EVENTS = TypeAdapter(list[Event])
SideArgument = Annotated[str, typer.Argument(help="Rule file, id of a curated rule, or formula.")]
ContextOption = Annotated[Path | None, typer.Option("--context", help="Rule file: rules that the trace must keep.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the sessions that are tried.")]


def separate_rules(
    first: SideArgument,
    second: SideArgument,
    env: EnvironmentOption = "banking",
    context: ContextOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Find a trace that two rules or rule sets judge differently.

    The trace keeps the rules of --context that are in neither set, and is minimal. It is executed in the simulator;
    where tools have schemas only, results are made up. Sets are compared as wholes: one is kept if all its rules are.

    Exit code 0 if the two are proved equal, 1 if they are separated, or if neither was found.
    """
    domain = load_domain(env)
    one, other = _read_side(first, "first", domain), _read_side(second, "second", domain)
    others = () if context is None else load_rules(context)
    check_rules(others, domain.environment)
    with ProgressBars().stage("sessions", None) as step:
        answer = Separator(domain.environment, others, seed, step).separate(one, other)
    json, shown = _in_json(answer), [_sentence(answer)]
    if isinstance(answer, Found):
        found = answer.trace
        told = tell_session(found.events, found.end, domain.environment)
        reasons = [*_reasons("first", one, found), *_reasons("second", other, found)]
        initial = encode_state(found.initial, domain.environment.entities)
        json = {**json, "session": told, "reasons": reasons, "initial": initial}
        shown += ["", told, "", *reasons]
    return CommandResult(json, shown, exit_code=0 if isinstance(answer, Proof) else 1)


def list_mutants(
    rules: Annotated[Path | None, typer.Argument(help="Rule file; default: the curated set.")] = None,
    env: EnvironmentOption = "banking",
    limit: Annotated[int, typer.Option(min=1, help="List so many mutants, drawn by the seed.")] = 20,
    seed: SeedOption = 1,
) -> CommandResult:
    """List rules with one change, and whether a trace separates them.

    A separating trace keeps the other rules of the file. Without one a change is proved to make no difference, or is
    unknown.
    """
    domain = load_domain(env)
    if not domain.environment.simulated:
        raise InputError(f"{env} has tools without a declaration of what they do; no trace can be executed in it")
    chosen = load_rules(rules or domain.rules_file)
    check_rules(chosen, domain.environment)
    pairs = [(rule, mutant) for rule in chosen for mutant in rule_mutants(domain.environment, rule)]
    sample = sorted(Random(seed).sample(range(len(pairs)), min(limit, len(pairs))))
    separator = Separator(domain.environment, chosen, seed)
    rows: list[tuple[RuleMutant, Separation]] = []
    with ProgressBars().stage("mutants", len(sample)) as step:
        for rule, mutant in (pairs[number] for number in sample):
            rows.append((mutant, separator.separate([rule], [mutant.rule])))
            step()
    return CommandResult(
        {"mutants": len(pairs), "listed": [_row_in_json(*row) for row in rows]}, _mutant_tables(rows, len(pairs))
    )


def _row_in_json(mutant: RuleMutant, answer: Separation) -> dict[str, Json]:
    about = {"id": mutant.rule.id, "kind": mutant.kind, "change": mutant.change, "formula": mutant.rule.formula}
    return {**about, **_in_json(answer)}


def _read_side(text: str, name: str, domain: Domain) -> tuple[Rule, ...]:
    if Path(text).suffix in {".toml", ".jsonl"}:
        rules = load_rules(Path(text))
    else:
        rules = tuple(rule for rule in load_rules(domain.rules_file) if rule.id == text)
        rules = rules or (Rule(id=name, formula=text),)
    check_rules(rules, domain.environment)
    return rules


def verdict_of(answer: Separation) -> str:
    """What an answer says, in a word or two."""
    match answer:
        case Found():
            return "separated"
        case Proof():
            return "equal in this context" if answer.core else "equal"
        case Unknown():
            return "not separated"
        case _:
            assert_never(answer)


def _sentence(answer: Separation) -> str:
    match answer:
        case Found(trace):
            return f"Separated: the first rule set is {trace.first} in this session, the second {trace.second}."
        case Proof():
            given = f", given {', '.join(answer.rules)}" if answer.core else ""
            return f"Equal{given}: both judge every trace alike. {answer.shown}".rstrip()
        case Unknown(why):
            return f"Not separated: {why}."
        case _:
            assert_never(answer)


def _in_json(answer: Separation) -> dict[str, Json]:
    found: dict[str, Json] = {"verdict": verdict_of(answer), "sentence": _sentence(answer)}
    if isinstance(answer, Found):
        found |= {"first": answer.trace.first, "second": answer.trace.second, "end": answer.trace.end}
        found["events"] = _EVENTS.dump_python([*answer.trace.events], mode="json")
    return found


def _reasons(side: str, rules: Sequence[Rule], found: SeparatingTrace) -> Iterator[str]:
    """Why a side breaks the session, or that it keeps it."""
    broken = [
        verdict for verdict in judge_rules(rules, found.events, (), end=found.end, explained=True) if not verdict.kept
    ]
    if not broken:
        yield f"The {side} keeps it."
    for verdict in broken:
        named = "" if len(rules) == 1 else f" rule {verdict.rule}:"
        yield f"The {side} does not:{named} {verdict.explanation or verdict.undetermined}"


def _mutant_tables(rows: Sequence[tuple[RuleMutant, Separation]], number: int) -> Iterator[RenderableType]:
    cells = ((mutant.rule.id, mutant.kind, mutant.change, verdict_of(answer)) for mutant, answer in rows)
    yield make_table(("mutant", "kind", "change", "verdict"), cells)
    counts = Counter(verdict_of(answer) for _, answer in rows)
    yield f"{len(rows)} of {number} mutants: {', '.join(f'{count} {name}' for name, count in counts.most_common())}."
