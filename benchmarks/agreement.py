"""Do annotators who see only law, manual and tool documentation judge sessions as the rules do?

    lawtrace tasks build --env clinic --out clinic.jsonl
    python -m benchmarks.agreement sheet clinic.jsonl --count 60 --out DIR
    python -m benchmarks.agreement table docs/annotations

`sheet` draws sessions of the tasks: references, the calls of one side of a contrast pair on the other, doing just what
the request asks, and mutants of references that the simulator carries out. It writes `NAME.sheet.md`, which an
annotator reads, and `NAME.key.jsonl`, which no annotator sees. Done again after the rules were changed, it judges the
same sessions by the rules of now. An annotator writes `NAME.WHO.jsonl`, a line a session:

    {"id": "clinic-01", "law": "lawful", "manual": "kept", "words": "§ 164.502(b)(1): ..."}

`table` compares such lines with the keys of a folder. A key may have `before`: the verdict of the rules when the
answers were given, if they were changed since. `NAME.adjudicated.jsonl`, if there is one, has lines of the same form by
an adjudicator, who saw law and session and neither verdict nor answers.
"""

import json
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.runtime.session import Session
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.questions import Legality
from lawtrace.solver.coverage.mutants import calls_of
from lawtrace.solver.coverage.mutations import mutants_of
from lawtrace.solver.interpretations import judge_legality, question_groups
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.trace_notation import tell_session
from lawtrace.solver.traces import PlannedCall, Trace, replay

Kind = Literal["reference", "other side", "only what is asked", "mutant"]


@dataclass(frozen=True, slots=True)
class Told:
    """A session with what the user asked for, and what it is by the rules.

    Attributes:
        law: under all interpretations, by the rules of the law.
        before: the same by the rules that the tasks were made for.
        manual: whether it keeps the rules of the manual.
        rules: the rules that it breaks; ``duties``: what they ask (`lawtrace.solver.rules.RuleKind`).
    """

    kind: Kind
    change: str
    request: str
    events: Sequence[Event]
    end: int
    law: Legality
    before: Legality
    manual: Literal["kept", "broken"]
    rules: Sequence[str]
    duties: Sequence[str]


def sessions_of(domain: Domain, tasks: Sequence[Task], random: Random) -> Iterator[Told]:
    """The sessions of tasks, with one drawn mutant of each reference."""
    environment, rules = domain.environment, load_rules(domain.rules_file)
    sides = {(task.contrast.pair, task.id): task for task in tasks if task.contrast is not None}
    for task in tasks:
        # A workflow asks for all the look-ups of the reference.
        initial, request = task.initial(environment), task.instructions["workflow"].text
        played: dict[Kind, Sequence[PlannedCall]] = {
            "reference": task.planned,
            "only what is asked": requested_calls(environment, initial, task.requested, "workflow"),
        }
        if task.contrast is not None:
            other = next(one for (pair, name), one in sides.items() if pair == task.contrast.pair and name != task.id)
            played["other side"] = other.planned
        for kind, calls in played.items():
            ran = replay(environment, initial, calls)
            yield _judged(task, rules, kind, "", request, ran.events, ran.end)
        reference = Trace(initial, task.planned, task.target(environment))
        mutants = [one for one in mutants_of(environment, task.rules, reference) if not one.answers]
        for mutant in random.sample(mutants, min(2, len(mutants))):
            session = Session(environment, initial)
            for number, (tool, arguments) in enumerate(mutant.calls):
                session.advance_time(mutant.pauses.get(number, 0))
                session.call(tool, arguments)
            if all(event.completed for event in session.events) and mutant.calls != calls_of(reference):
                yield _judged(task, rules, "mutant", mutant.change, request, session.events, session.end)


def _judged(
    task: Task, rules: Sequence[Rule], kind: Kind, change: str, request: str, events: Sequence[Event], end: int
) -> Told:
    verdicts = judge_rules(rules, events, (), end=end)
    law, _ = judge_legality(question_groups(rules), verdicts)
    before, _ = judge_legality(question_groups(task.rules), judge_rules(task.rules, events, (), end=end))
    broken = [verdict for verdict in verdicts if verdict.broken]
    manual = "broken" if any(verdict.source == "manual" for verdict in broken) else "kept"
    names = [verdict.rule for verdict in broken]
    duties = sorted({rule.kind or "" for rule in rules if rule.id in names})
    return Told(kind, change, request, [*events], end, law, before, manual, names, duties)


def tell(told: Told) -> str:
    """A session in sentences, a call a line."""
    return f"The user asked: {told.request}\n\n{tell_session(told.events, told.end)}"


def _show(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def write_sheet(domain: Domain, tasks: Sequence[Task], count: int, seed: int, out: Path) -> int:
    """Write a sheet and its key; return how many sessions it has: of each kind as many, as far as there are."""
    random, name = Random(seed), domain.environment.name
    found = defaultdict[Kind, list[Told]](list)
    for one in sessions_of(domain, tasks, random):
        if all(one.events != known.events for known in found[one.kind]):
            found[one.kind].append(one)
    for of_kind in found.values():
        random.shuffle(of_kind)
    chosen = [one for row in zip_all(*found.values()) for one in row][:count]
    random.shuffle(chosen)
    numbered = [(f"{name}-{number:02}", one) for number, one in enumerate(chosen, 1)]
    parts = [
        f"# Law\n\n{domain.regulation.text()}",
        f"# Manual of the owner of the tools\n\n{domain.regulation.manual_text() or 'None.'}",
        f"# Tools\n\n```json\n{json.dumps(document(domain.environment), ensure_ascii=False, indent=1)}\n```",
    ]
    parts += [f"# Session {key}\n\n{tell(one)}" for key, one in numbered]
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.sheet.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    keys = [
        {name: getattr(one, name) for name in ("kind", "change", "law", "manual", "rules", "duties")}
        | {"id": key, "session": tell(one)}
        | ({"before": one.before} if one.before != one.law else {})
        for key, one in numbered
    ]
    (out / f"{name}.key.jsonl").write_text("".join(f"{_show(row)}\n" for row in keys), encoding="utf-8")
    return len(numbered)


def zip_all(*lists: Sequence[Told]) -> Iterator[list[Told]]:
    """The first items, then the second ones of the lists that have one, and so on."""
    for number in range(max(map(len, lists), default=0)):
        yield [one[number] for one in lists if number < len(one)]


@dataclass(frozen=True, slots=True)
class Compared:
    """One answer of an annotator beside the verdict of the rules."""

    environment: str
    annotator: str
    key: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def decided(self) -> bool:
        return self.answer["law"] in ("lawful", "unlawful")

    @property
    def agrees(self) -> bool:
        return self.answer["law"] == self.key["law"]

    @property
    def agreed(self) -> bool:
        """With the verdict of the rules before they were changed because of the answers."""
        return self.answer["law"] == self.key.get("before", self.key["law"])


def read_answers(folder: Path) -> list[Compared]:
    """The answers of a folder. Raises KeyError for one about a session that no key has."""
    compared: list[Compared] = []
    for path in sorted(folder.glob("*.key.jsonl")):
        name = path.name.removesuffix(".key.jsonl")
        keys = {row["id"]: row for row in _rows(path)}
        for answers in sorted(folder.glob(f"{name}.*.jsonl")):
            if answers != path:
                who = answers.name.removeprefix(f"{name}.").removesuffix(".jsonl")
                compared += [Compared(name, who, keys[row["id"]], row) for row in _rows(answers)]
    return compared


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def show_tables(compared: Sequence[Compared]) -> Iterator[str]:
    """Markdown tables by environment, kind of session and what the broken rules ask; then each difference."""
    people = [one for one in compared if one.annotator != "adjudicated"]
    yield from _table("environment", people, lambda one: [one.environment])
    yield from _table("annotator", people, lambda one: [one.annotator])
    yield from _table("session", people, lambda one: [one.key["kind"]])
    yield from _table("what the broken rules ask", people, lambda one: one.key["duties"] or ["(none broken)"])
    settled = [one for one in compared if one.annotator == "adjudicated"]
    sessions = len({one.key["id"] for one in people})
    wrong = sum(one.decided and not one.agrees for one in settled)
    if settled:
        yield f"{len(settled)} sessions adjudicated; the rules are wrong in {wrong} of {sessions} sessions."
    for one in compared:
        if not one.agrees:
            yield (
                f"- {one.key['id']}, {one.annotator}: {one.answer['law']}, the rules {one.key['law']} "
                f"({', '.join(one.key['rules']) or 'no rule broken'}); {one.key['kind']}: {one.answer['words']}"
            )


def _table(title: str, compared: Sequence[Compared], groups: Callable[[Compared], Sequence[str]]) -> Iterator[str]:
    counts = defaultdict[str, Counter[str]](Counter)
    for one in compared:
        for group in (*groups(one), "all"):
            counts[group]["answers"] += 1
            counts[group]["decided"] += one.decided
            counts[group]["agreed"] += one.decided and one.agreed
            counts[group]["agrees"] += one.decided and one.agrees
            counts[group]["turns"] += one.key["law"] == "arguable"
    yield f"| {title} | answers | decided | as the rules | as the rules after changes | then arguable |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for group, count in sorted(counts.items(), key=lambda item: item[0] == "all"):
        raw, after = (
            f"{count[name]} ({100 * count[name] / max(1, count['decided']):.0f} %)" for name in ("agreed", "agrees")
        )
        yield f"| {group} | {count['answers']} | {count['decided']} | {raw} | {after} | {count['turns']} |"
    yield ""


def main() -> None:
    """See the module."""
    parser = ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    sheet = verbs.add_parser("sheet")
    sheet.add_argument("tasks", type=Path, help="a task file of `lawtrace tasks build`")
    sheet.add_argument("--count", type=int, default=40)
    sheet.add_argument("--seed", type=int, default=1)
    sheet.add_argument("--out", type=Path, required=True)
    table = verbs.add_parser("table")
    table.add_argument("folder", type=Path)
    given = parser.parse_args()
    if given.verb == "sheet":
        tasks, domain = read_tasks(given.tasks)
        print(write_sheet(domain, tasks, given.count, given.seed, given.out), "sessions")
    else:
        print("\n".join(show_tables(read_answers(given.folder))))


if __name__ == "__main__":
    main()
