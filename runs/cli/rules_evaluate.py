"""``lawtrace rules evaluate``: what rule sets say of sessions, beside gold rules."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from lawtrace.agents.conversations.formalized_group import FormalizedGroup, rules_of
from lawtrace.environments.regulations.regulation import article_of
from lawtrace.runs.cli.options import EnvironmentOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import percent
from lawtrace.runs.scoring.rule_behaviour import (
    BehaviourScore,
    JudgedSet,
    Share,
    ToldSession,
    cites,
    is_about,
    score_behaviour,
)
from lawtrace.runs.scoring.session_bank import BankSession, make_sessions
from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import trace_of
from lawtrace.schemas.errors import InputError, input_errors
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import Rule, check_rules, load_rules
from lawtrace.solver.traces import Trace

MOST_SHOWN = 3
"""How many sessions of a kind are told on the terminal."""


_Evaluated = tuple[str, BehaviourScore]
"""The name of a rule set, and its score."""


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(help="Rule files to score side by side, or what `rules formalize` writes beside them."),
    ],
    gold: Annotated[Path | None, typer.Option(help="Gold rules, or another set; default: the curated set.")] = None,
    env: EnvironmentOption = "banking",
    provisions: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="Compare rules about these; default: those of the files. Repeatable."),
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="Task or trace file with references; default: they are searched.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of references; ten times as many sessions are drawn.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the sessions.")] = 1,
) -> CommandResult:
    """Score rule sets by what they say of sessions.

    Sessions are carried out in the simulator: lawful references, references with one change, sessions that break one
    gold rule, and random ones. Rules of the law count, of sets with open questions under the readings that fit best.
    Of RULES.formalized.jsonl each formalizer is scored, and what the determinacy of a group was worth.
    """
    domain = load_domain(env)
    if not domain.environment.simulated:
        raise InputError(f"{env} has tools without a declaration of what they do; no session can be carried out in it")
    formalized = {file: FORMALIZED.read(file) for file in files if file.name.endswith(FORMALIZED.name)}
    groups = [group for found in formalized.values() for group in found]
    sets = {name: _of_law(rules) for file in files for name, rules in _rule_sets(file, formalized.get(file))}
    context = load_rules(gold or domain.rules_file)
    for rules in (context, *sets.values()):
        check_rules(rules, domain.environment)
    cited = (article_of(one) for rules in sets.values() for rule in rules for one in rule.provisions)
    written_for = (citation for group in groups for citation in group.provisions)
    scope = provisions or list(dict.fromkeys(written_for if groups else cited))
    golden = [rule for rule in _of_law(context) if not scope or is_about(rule, scope)]
    if not golden:
        raise InputError(
            f"no gold rule of the law is about {', '.join(scope)}; if there are some, name them with --gold"
        )
    sets = {name: [rule for rule in rules if not rule.provisions or cites(rule, scope)] for name, rules in sets.items()}
    with ProgressBars().stage("sessions", 11 * count + len(golden)) as step:
        sessions = make_sessions(
            domain.environment,
            golden,
            context,
            count=count,
            seed=seed,
            traces=() if tasks is None else _references(tasks, domain),
            progress=step,
        )
    with ProgressBars().stage("verdicts", len(sessions) * (1 + len(sets))) as step:
        found: list[_Evaluated] = []
        ours = JudgedSet(golden, sessions, step)
        for name, rules in sets.items():
            score = score_behaviour(domain.environment, JudgedSet(rules, sessions, step), ours, sessions)
            found.append((name, score))
        worth = [(group, _worth(group, golden, domain, sessions)) for group in groups]
    kinds = Counter(session.kind for session in sessions)
    return CommandResult(
        {
            "gold": str(gold or "curated"),
            "provisions": scope,
            "sessions": kinds,
            "sets": [{"name": name, **score.model_dump(mode="json")} for name, score in found],
            "groups": [_worth_as_json(*one) for one in worth],
        },
        (*_shown(found, sessions, kinds), *_determinacy(worth)),
    )


def _rule_sets(file: Path, groups: Sequence[FormalizedGroup] | None) -> Iterator[tuple[str, Sequence[Rule]]]:
    """The rules of a file, and of each formalizer."""
    if groups is None:
        yield str(file), load_rules(file)
        return
    for name in dict.fromkeys(by.name for group in groups for by in group.formalizations):
        written = [by.rules for group in groups for by in group.formalizations if by.name == name]
        yield f"{file}, {name}", list({rule.id: rule for rules in written for rule in rules}.values())
    yield f"{file}, result", rules_of(groups)


def _worth(
    group: FormalizedGroup, golden: Sequence[Rule], domain: Domain, sessions: Sequence[BankSession]
) -> BehaviourScore | None:
    """What the result of a group says, beside the gold rules that cite its provisions; None without one of both."""
    ours, theirs = _of_law(group.rules), [rule for rule in golden if is_about(rule, [*group.provisions])]
    if not ours or not theirs:
        return None
    return score_behaviour(domain.environment, JudgedSet(ours, sessions), JudgedSet(theirs, sessions), sessions)


def _worth_as_json(group: FormalizedGroup, score: BehaviourScore | None) -> dict[str, object]:
    shares = score and score.model_dump(exclude={"groups", "by_rule", "too_strict"})
    return {"group": group.group, "determinacy": group.determinacy, "questions": group.questions, "score": shares}


def _determinacy(worth: Sequence[tuple[FormalizedGroup, BehaviourScore | None]]) -> Iterator[RenderableType]:
    """What the determinacy of each group was worth."""
    if not worth:
        return
    rows = [
        (one.group, one.determinacy, len({by.model for by in one.formalizations}), one.questions, *map(_cell, shares))
        for one, score in worth
        for shares in [(score.references, score.unlawful, score.alike) if score else [Share(count=0, of=0)] * 3]
    ]
    head = ("provisions", "determinacy", "models", "questions", "references kept", "unlawful caught", "judged alike")
    yield make_table(head, rows, title="what the determinacy was worth, beside the gold rules that cite the provisions")


def _of_law(rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule.source == "law"]


def _references(file: Path, domain: Domain) -> list[Trace]:
    """The references of tasks, or traces that a search for tasks has made."""
    with input_errors(file), file.open(encoding="utf-8") as lines:
        are_traces = TraceRow.model_fields["schema_version"].default in lines.readline(200)
    if are_traces:
        return [trace_of(row, domain.environment) for row in read_rows(file, TraceRow)]
    read, other = read_tasks(file, None)
    environment = domain.environment
    if other.environment.name != environment.name:
        raise InputError(f"{file}: its tasks are about {other.environment.name!r}, not about {environment.name!r}")
    return [Trace(task.initial(environment), task.planned, task.target(environment)) for task in read if task.calls]


def _cell(share: Share) -> str:
    return f"{share.count} of {share.of} ({percent(share.rate, digits=0)})" if share.of else "–"


def _shown(
    found: Sequence[_Evaluated], sessions: Sequence[BankSession], kinds: Mapping[str, int]
) -> Iterator[RenderableType]:
    yield f"{len(sessions)} sessions: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}."
    rows: list[tuple[str, list[str]]] = [
        ("rules, and gold rules", [f"{score.rules}, {score.gold}" for _, score in found]),
        ("references kept", [_cell(score.references) for _, score in found]),
        ("unlawful mutants caught", [_cell(score.mutants) for _, score in found]),
        ("breaches of one gold rule caught", [_cell(score.breaches) for _, score in found]),
        ("lawful mutants called unlawful", [_cell(score.false_alarms) for _, score in found]),
        ("random sessions, both keep", [_cell(score.random_kept) for _, score in found]),
        ("random sessions, both break", [_cell(score.random_broken) for _, score in found]),
        ("judged differently", [_cell(score.different) for _, score in found]),
    ]
    yield make_table(("", *(name for name, _ in found)), ((name, *cells) for name, cells in rows))
    for name, score in found:
        yield from _details(name if len(found) > 1 else "", score)


def _details(name: str, score: BehaviourScore) -> Iterator[RenderableType]:
    groups = ((one.group, one.gold, _cell(one.references), _cell(one.caught)) for one in score.groups)
    title = name or None
    yield make_table(("provisions", "gold rules", "references kept", "unlawful caught"), groups, title=title)
    missed = [one for one in score.by_rule if one.missed is not None]
    if missed:
        yield make_table(("gold rule with misses", "caught"), ((one.rule, _cell(one.caught)) for one in missed))
    if unbroken := [one.rule for one in score.by_rule if not one.caught.of]:
        yield f"No session breaks {', '.join(unbroken)}: of these gold rules nothing is known."
    for side, readings in (("", score.readings), ("gold ", score.gold_readings)):
        if readings:
            yield f"Readings of the {side}rules: {', '.join(f'{name} = {one}' for name, one in readings.items())}."
    for session in [one.missed for one in missed if one.missed is not None][:MOST_SHOWN]:
        yield from _told("Kept, and broken by the gold rules", session)
    for session in score.too_strict[:MOST_SHOWN]:
        yield from _told("Broken by", session)


def _told(what: str, session: ToldSession) -> Iterator[str]:
    yield f"{what} {', '.join(session.breaks)} ({session.kind}: {session.about}):\n{session.told}\n"
