"""Do annotators who see only law, manual and tool documentation judge sessions as the rules do?

    python -m benchmarks.agreement table docs/annotations

`NAME.key.jsonl` has sessions with the verdicts of the rules; `NAME.WHO.jsonl` what an annotator says of them, a line a
session:

    {"id": "clinic-01", "law": "lawful", "manual": "kept", "words": "§ 164.502(b)(1): ..."}

`table` compares such lines with the keys of a folder. A key may have `before`: the verdict of the rules when the
answers were given, if they were changed since. `NAME.adjudicated.jsonl`, if there is one, has lines of the same form by
an adjudicator, who saw law and session and neither verdict nor answers. For new sessions see `lawtrace tasks sample`.
"""

import json
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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
    table = verbs.add_parser("table")
    table.add_argument("folder", type=Path)
    given = parser.parse_args()
    print("\n".join(show_tables(read_answers(given.folder))))


if __name__ == "__main__":
    main()
