"""Backtest: what two versions of a rule set say of the same conversations."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from lawtrace.environments.events import Json
from lawtrace.runs.ingest.examples import Examples
from lawtrace.runs.ingest.rule_changes import RuleChange
from lawtrace.runs.ingest.transcript_audit import AuditRow, place_of
from lawtrace.runs.schemas.verdict_rows import RuleVerdict

Difference = Literal["only old", "only new", "both, elsewhere"]
"""How the versions differ on a conversation in which at least one of them is broken."""
DIFFERENCES: Final[tuple[Difference, ...]] = ("only old", "only new", "both, elsewhere")


@dataclass(slots=True)
class RuleBacktest:
    """One rule in both versions.

    Attributes:
        verdicts: number of conversations by the old and the new verdict; ``absent`` where a version lacks the rule.
        examples: the first conversations on which the versions differ, by the difference.
    """

    change: RuleChange
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    examples: dict[Difference, Examples] = field(default_factory=lambda: {name: Examples() for name in DIFFERENCES})

    def count(self, *, old: bool, new: bool) -> int:
        """In how many conversations the rule is broken by these versions and no other."""
        return sum(
            number
            for (before, after), number in self.verdicts.items()
            if ((before == "broken"), (after == "broken")) == (old, new)
        )

    @property
    def undetermined(self) -> tuple[int, int]:
        """In how many conversations the old and the new rule are undetermined."""
        old = sum(number for (before, _), number in self.verdicts.items() if before == "undetermined")
        return old, sum(number for (_, after), number in self.verdicts.items() if after == "undetermined")

    @property
    def differs(self) -> bool:
        """Whether the versions have another rule, or another verdict."""
        return self.change != "same" or any(before != after for before, after in self.verdicts)

    def merge(self, other: "RuleBacktest") -> None:
        """Add the verdicts on conversations that come after."""
        self.verdicts += other.verdicts
        for name, examples in other.examples.items():
            self.examples[name].merge(examples)


class Backtest:
    """The verdicts of two versions, counted as the rows come.

    Attributes:
        rules: by id.
        conversations: in how many a rule is broken, by the versions that say so: ``(old, new)``.
    """

    def __init__(self, changes: Mapping[str, RuleChange]) -> None:
        """``changes``: see `lawtrace.runs.ingest.rule_changes.compare_rules`."""
        self.rules: Final = {name: RuleBacktest(change) for name, change in changes.items()}
        self.conversations: Final[Counter[tuple[bool, bool]]] = Counter()

    def add(self, row: AuditRow) -> None:
        """Count the verdicts on one conversation."""
        if row.against is None:
            return
        self.conversations[row.against.outcome == "broken", row.outcome == "broken"] += 1
        for name, old, new in pair_verdicts(row):
            compared = self.rules[name]
            compared.verdicts[_name(old), _name(new)] += 1
            difference = tell_difference(old, new)
            if difference is not None:
                shown = new if new is not None and new.broken else old
                why = "" if shown is None else f"{place_of(shown)}: {shown.explanation}"
                before = f"; before{place_of(old)}" if old is not None and difference == "both, elsewhere" else ""
                compared.examples[difference].add(f"{row.conversation} ({row.place}){why}{before}")

    def merge(self, other: "Backtest") -> None:
        """Add the verdicts on conversations that come after."""
        self.conversations.update(other.conversations)
        for name, compared in other.rules.items():
            self.rules[name].merge(compared)

    def findings(self, *, old: bool, new: bool) -> int:
        """How many findings, a rule broken in a conversation, these versions have and no other."""
        return sum(compared.count(old=old, new=new) for compared in self.rules.values())

    def as_json(self) -> dict[str, Json]:
        """The counts and the first examples as one object."""
        sides = {"both": (True, True), "only_old": (True, False), "only_new": (False, True)}
        rules: dict[str, Json] = {}
        for name, compared in self.rules.items():
            changed: dict[str, Json] = {
                f"{before} -> {after}": number
                for (before, after), number in sorted(compared.verdicts.items())
                if before != after
            }
            examples: dict[str, Json] = {
                kind.replace(", ", "_").replace(" ", "_"): [*found.first]
                for kind, found in compared.examples.items()
                if found.count
            }
            broken = {side: compared.count(old=old, new=new) for side, (old, new) in sides.items()}
            rules[name] = {"change": compared.change, **broken, "changed": changed, "examples": examples}
        return {
            "conversations": {side: self.conversations[both] for side, both in sides.items()},
            "findings": {side: self.findings(old=old, new=new) for side, (old, new) in sides.items()},
            "rules": rules,
        }


def pair_verdicts(row: AuditRow) -> Iterator[tuple[str, RuleVerdict | None, RuleVerdict | None]]:
    """The old and the new verdict of each rule on a conversation; None where a version lacks the rule."""
    old = {verdict.rule: verdict for verdict in (row.against.rules if row.against else ())}
    new = {verdict.rule: verdict for verdict in row.rules}
    for name in dict.fromkeys((*new, *old)):
        yield name, old.get(name), new.get(name)


def tell_difference(old: RuleVerdict | None, new: RuleVerdict | None) -> Difference | None:
    """How two verdicts differ, if one of them is broken."""
    before, after = old is not None and old.broken, new is not None and new.broken
    if before and after and old is not None and new is not None:
        return None if old.at == new.at else "both, elsewhere"
    return "only old" if before else "only new" if after else None


def _name(verdict: RuleVerdict | None) -> str:
    return "absent" if verdict is None else verdict.name
