"""Two versions of a rule set: what each rule becomes, and what both say of the same conversations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lawtrace.runs.audit.tally import Examples, Tally
from lawtrace.schemas.audit_rows import AuditRow, place_of
from lawtrace.schemas.events import Json
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.solver.rules import Rule

RuleChange = Literal["same", "reworded", "added", "removed"]
"""What becomes of a rule: ``reworded`` if its formula is another one. Rules are told apart by their ids."""

Difference = Literal["only old", "only new", "both, elsewhere"]
"""How the versions differ on a conversation in which at least one of them is broken."""
DIFFERENCES: Final[tuple[Difference, ...]] = ("only old", "only new", "both, elsewhere")

SIDES: Final[Mapping[str, tuple[bool, bool]]] = {
    "both": (True, True),
    "only_old": (True, False),
    "only_new": (False, True),
}
"""Which versions a rule is broken by: old, new."""


def compare_rules(old: Sequence[Rule], new: Sequence[Rule]) -> dict[str, RuleChange]:
    """What becomes of each rule, by id: the new rules in order, then those that are removed."""
    before, after = {rule.id: rule for rule in old}, {rule.id: rule for rule in new}
    changes: dict[str, RuleChange] = {}
    for name, rule in after.items():
        earlier = before.get(name)
        changes[name] = "added" if earlier is None else "same" if earlier.parsed == rule.parsed else "reworded"
    return {**changes, **{name: "removed" for name in before if name not in after}}


def count_versions(tally: Tally, row: AuditRow) -> None:
    """Count what both versions say of one conversation."""
    if row.against is None:
        return
    tally.add("broken in", *(str(any(rule.broken for rule in of.rules)) for of in (row.against, row)))
    for name, old, new in pair_verdicts(row):
        tally.add("versions", name, *("absent" if one is None else one.name for one in (old, new)))
        difference = tell_difference(old, new)
        if difference is not None:
            shown = new if new is not None and new.broken else old
            why = "" if shown is None else f"{place_of(shown)}: {shown.explanation}"
            before = f"; before{place_of(old)}" if old is not None and difference == "both, elsewhere" else ""
            tally.add_example("versions", name, difference, text=f"{row.conversation} ({row.place}){why}{before}")


@dataclass(frozen=True, slots=True)
class RuleVersions:
    """One rule in both versions.

    Attributes:
        verdicts: number of conversations by the old and the new verdict; ``absent`` where a version lacks the rule.
        examples: the first conversations on which the versions differ, by the difference.
    """

    change: RuleChange
    verdicts: Mapping[tuple[str, str], int]
    examples: Mapping[str, Examples]

    def count(self, *, old: bool, new: bool) -> int:
        """In how many conversations the rule is broken by these versions and no other."""
        return sum(
            number
            for (before, after), number in self.verdicts.items()
            if ((before == "broken"), (after == "broken")) == (old, new)
        )

    @property
    def undetermined(self) -> tuple[int, int]:
        old = sum(number for (before, _), number in self.verdicts.items() if before == "undetermined")
        return old, sum(number for (_, after), number in self.verdicts.items() if after == "undetermined")

    @property
    def differs(self) -> bool:
        """Whether the versions have another rule, or another verdict."""
        return self.change != "same" or any(before != after for before, after in self.verdicts)

    def as_json(self) -> dict[str, Json]:
        changed: dict[str, Json] = {
            f"{before} -> {after}": number
            for (before, after), number in sorted(self.verdicts.items())
            if before != after
        }
        examples: dict[str, Json] = {
            kind.replace(", ", "_").replace(" ", "_"): [*found.first]
            for kind, found in self.examples.items()
            if found.count
        }
        broken = {side: self.count(old=old, new=new) for side, (old, new) in SIDES.items()}
        return {"change": self.change, **broken, "changed": changed, "examples": examples}


class VersionComparison:
    """The verdicts of two versions.

    Attributes:
        rules: by id.
    """

    def __init__(self, changes: Mapping[str, RuleChange], tally: Tally) -> None:
        self._tally: Final = tally
        self.rules: Final[dict[str, RuleVersions]] = {}
        for name, change in changes.items():
            verdicts = {(before, after): number for (before, after), number in tally.below("versions", name)}
            examples = {one: tally.examples("versions", name, one) for one in DIFFERENCES}
            self.rules[name] = RuleVersions(change, verdicts, examples)

    def conversations(self, *, old: bool, new: bool) -> int:
        return self._tally.count("broken in", str(old), str(new))

    def findings(self, *, old: bool, new: bool) -> int:
        """How many findings, a rule broken in a conversation, these versions have and no other."""
        return sum(compared.count(old=old, new=new) for compared in self.rules.values())

    def as_json(self) -> dict[str, Json]:
        return {
            "conversations": {side: self.conversations(old=old, new=new) for side, (old, new) in SIDES.items()},
            "findings": {side: self.findings(old=old, new=new) for side, (old, new) in SIDES.items()},
            "rules": {name: compared.as_json() for name, compared in self.rules.items()},
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
