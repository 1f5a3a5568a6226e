"""The page of an audit: its findings by rule, and the conversations that they are in, as far as a page can show them.

Rows are read one after the other. Of each rule only the first conversations with findings are kept, and of a long
conversation the events near its findings, so a page stays small however long the audit is.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.runs.audit.judging import AT_REFERENCE
from lawtrace.runs.audit.versions import Difference, pair_verdicts, tell_difference
from lawtrace.runs.report.text import cut, show_value, unique_anchors, visible
from lawtrace.schemas.audit_rows import AuditRow, place_of
from lawtrace.schemas.events import SPEAKERS, Event, Json, name_actor, name_events
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.schemas.violations import format_time
from lawtrace.solver.rules import Rule

MAX_CONVERSATIONS: Final = 400
"""About how many conversations a page shows, over all rules."""
MAX_OF_RULE: Final = 20
"""How many conversations with a broken rule are shown, and half as many in which it is undetermined."""
MAX_EVENTS: Final = 200
"""Of a longer conversation, the events near the findings are shown."""
MAX_CHARACTERS: Final = 12_000_000
"""Of all conversations together. Beyond it no more are added."""
VALUE_CHARACTERS: Final = 4_000
SHORT_RESULT: Final = 160
"""A longer result is folded away."""

MAX_DIFFERING: Final = 5
"""Of how many conversations a page shows how two versions of a rule differ, for each kind of difference."""


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A rule that is not kept in a conversation.

    Attributes:
        anchor: of the event that it is about, or of the end of the conversation.
        older: whether it is one of the older version of the rules.
        difference: how the versions differ on it, if they are compared and do.
    """

    row: AuditRow
    verdict: RuleVerdict
    anchor: str
    older: bool = False
    difference: Difference | None = None

    @property
    def rule(self) -> str:
        return self.verdict.rule

    @property
    def outcome(self) -> Literal["broken", "undetermined"]:
        return "broken" if self.verdict.broken else "undetermined"

    @property
    def why(self) -> str:
        why = self.verdict.explanation or self.verdict.undetermined
        at_reference = not self.older and self.rule in self.row.at_reference
        return cut(f"{AT_REFERENCE}: {why}" if at_reference else why, VALUE_CHARACTERS)

    @property
    def call(self) -> str:
        """The number of the call; empty for a message, and at the end."""
        call = self.verdict.call or ""
        return "" if call.startswith("m") else call

    @property
    def where(self) -> str:
        """For readers: ``call 3, message 12``."""
        return place_of(self.verdict).strip(" ()") or "the record as a whole"

    @property
    def identity(self) -> str:
        """What a mark on it names, as JSON in plain ASCII: an id may hold any character."""
        named = {"conversation": self.row.conversation, "place": self.row.place, "rule": self.rule, "call": self.call}
        return json.dumps(named)


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """A message or a call of a conversation.

    Attributes:
        skipped: how many events before it are not shown.
        text: what is said, or the call.
        result: of a call.
        findings: those that are about it.
        evidence: what it is for findings about other events: rule and role.
    """

    anchor: str
    kind: Literal["user", "agent", "call"]
    label: str
    message: str
    time: str
    text: str
    outcome: str
    result: str
    findings: tuple[Finding, ...]
    evidence: tuple[tuple[str, str], ...]
    skipped: int


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """A conversation with findings. ``skipped``: how many events at its end are not shown."""

    anchor: str
    row: AuditRow
    findings: tuple[Finding, ...]
    events: tuple[ShownEvent, ...]
    skipped: int

    @property
    def labels(self) -> Mapping[str, str]:
        return {name: show_value(value) for name, value in self.row.labels.items() if value is not None}

    @property
    def event_labels(self) -> Mapping[int, str]:
        """What readers call each step of the evidence."""
        if self.row.log is None:
            return dict(enumerate(self.row.event_labels))
        violations = [one for finding in self.findings for one in finding.verdict.violations]
        steps = {step for one in violations for piece in one.evidence for step in piece.steps}
        steps |= {step for one in violations for step in (one.step, one.certain) if step is not None}
        return {step: f"t{step}" for step in steps}


@dataclass(slots=True)
class RuleFindings:
    """The findings of a rule, and the words of the provisions that it rests on."""

    rule: Rule
    anchor: str
    provisions: tuple[tuple[str, str], ...]
    counts: Counter[str] = field(default_factory=Counter[str])
    shown: list[Finding] = field(default_factory=list[Finding])

    @property
    def left_out(self) -> int:
        """How many of its findings the page does not show."""
        return self.counts.total() - len(self.shown)


class AuditFindings:
    """The findings of an audit, collected as its rows come.

    Attributes:
        rules: by id, in the order of the rule set.
        older: the older version of the rules, if they are compared with one.
        differences: the findings on which the versions differ, by rule, as far as they are shown.
        conversations: those that are shown.
    """

    def __init__(self, rules: Sequence[Rule], regulation: Regulation | None = None, older: Sequence[Rule] = ()) -> None:
        self.rules: Final = _by_id(rules, "rule", regulation)
        self.older: Final = _by_id(older, "older", regulation)
        self.differences: Final[dict[str, list[Finding]]] = {}
        self._differing: Final = Counter[tuple[str, Difference]]()
        self.conversations: Final[list[ShownConversation]] = []
        most = max(2, min(MAX_OF_RULE, MAX_CONVERSATIONS // max(1, len(rules))))
        self._most: Final[Mapping[str, int]] = {"broken": most, "undetermined": max(1, most // 2)}
        self._characters = 0

    @property
    def worst_first(self) -> list[RuleFindings]:
        """The rules, those that are broken most first."""
        return sorted(self.rules.values(), key=lambda of: (-of.counts["broken"], -of.counts["undetermined"]))

    def add_all(self, rows: Iterable[AuditRow]) -> "AuditFindings":
        for row in rows:
            self.add(row)
        return self

    def add(self, row: AuditRow) -> None:
        """Take the findings of one conversation; keep it if a rule has few so far."""
        differing = [pair for pair in _differences(row).items() if self._differing[pair] < MAX_DIFFERING]
        self._differing.update(differing)
        wanted = bool(differing)
        for verdict in (one for one in row.rules if not one.kept):
            counts = self.rules[verdict.rule].counts
            wanted = wanted or counts[verdict.name] < self._most[verdict.name]
            counts[verdict.name] += 1
        if not wanted or self._characters > MAX_CHARACTERS:
            return
        shown = show_conversation(row, f"c{len(self.conversations) + 1}")
        self._characters += sum(len(event.text) + len(event.result) for event in shown.events)
        self.conversations.append(shown)
        for finding in shown.findings:
            if finding.difference is not None:
                self.differences.setdefault(finding.rule, []).append(finding)
            if not finding.older:
                self.rules[finding.rule].shown.append(finding)

    def of(self, finding: Finding) -> RuleFindings:
        """The rule of a finding, in its version."""
        return (self.older if finding.older else self.rules)[finding.rule]


def _by_id(rules: Sequence[Rule], prefix: str, regulation: Regulation | None) -> dict[str, RuleFindings]:
    anchors = unique_anchors([rule.id for rule in rules])
    return {
        rule.id: RuleFindings(rule, f"{prefix}-{anchor}", _provision_words(rule, regulation))
        for rule, anchor in zip(rules, anchors, strict=True)
    }


def _differences(row: AuditRow) -> dict[str, Difference]:
    """The rules on which two versions differ in a conversation."""
    pairs = pair_verdicts(row) if row.against is not None else ()
    return {name: kind for name, old, new in pairs if (kind := tell_difference(old, new)) is not None}


def _provision_words(rule: Rule, regulation: Regulation | None) -> tuple[tuple[str, str], ...]:
    """The provisions of a rule with their words; empty words where the regulation at hand does not have them."""
    known = regulation if regulation is not None and rule.regulation in {"", regulation.id} else None
    found: list[tuple[str, str]] = []
    for citation in rule.provisions:
        parts = known.cited(citation) if known is not None else ()
        found.append((citation, cut(" ".join(part.words() for part in parts), VALUE_CHARACTERS)))
    return tuple(found)


def show_conversation(row: AuditRow, anchor: str) -> ShownConversation:
    """A conversation with its findings, for a page. ``anchor``: its id on the page."""
    differences = _differences(row)
    new = sorted((verdict for verdict in row.rules if not verdict.kept), key=lambda one: not one.broken)
    old = [one for one in (row.against.rules if row.against else ()) if one.broken and one.rule in differences]
    found: list[Finding] = []
    at: dict[int, list[Finding]] = {}
    evidence: dict[int, list[tuple[str, str]]] = {}
    for verdict, older in (*((one, False) for one in new), *((one, True) for one in old)):
        place = f"{anchor}-end" if verdict.at is None else f"{anchor}-e{verdict.at}"
        finding = Finding(row, verdict, place, older, differences.get(verdict.rule) if verdict.broken else None)
        found.append(finding)
        if verdict.at is not None:
            at.setdefault(verdict.at, []).append(finding)
        for piece in (piece for violation in verdict.violations for piece in violation.evidence):
            for index in (index for step in piece.steps for index in row.events_of(step)):
                evidence.setdefault(index, []).append((verdict.rule, piece.role))
    labels = row.event_labels
    events: list[ShownEvent] = []
    after = 0
    for index in _near({*at, *evidence}, len(row.events)):
        event = row.events[index]
        said = row.log is None and event.tool in SPEAKERS
        text = str(event.arguments.get("text", "")) if said else _call(event)
        events.append(
            ShownEvent(
                f"{anchor}-e{index}",
                ("user" if event.tool == "user" else "agent") if said else "call",
                labels[index] if said else name_events([labels[index]]),
                "" if row.log is not None else event.message or "",
                _when_and_who(event),
                visible(cut(text, VALUE_CHARACTERS)),
                "" if said else event.outcome,
                "" if said else visible(cut(event.error or _json(event.result), VALUE_CHARACTERS)),
                tuple(at.get(index, ())),
                tuple(dict.fromkeys(evidence.get(index, ()))),
                index - after,
            )
        )
        after = index + 1
    return ShownConversation(anchor, row, tuple(found), tuple(events), len(row.events) - after)


def _when_and_who(event: Event) -> str:
    time = "" if event.time is None else format_time(event.time)
    return " ".join(part for part in (time, "" if event.by is None else name_actor(event.by)) if part)


def _near(marked: set[int], count: int) -> list[int]:
    """The indexes of the events that are shown: all, or the first ones and those near the marked ones."""
    if count <= MAX_EVENTS:
        return list(range(count))
    points = sorted(marked)[: MAX_EVENTS // 4]
    reach = max(1, MAX_EVENTS // (2 * len(points) + 2)) if points else MAX_EVENTS
    near = {index for point in (0, *points) for index in range(max(0, point - reach), min(count, point + reach))}
    return sorted({*near, *points})


def _call(event: Event) -> str:
    """A call in Python syntax, one argument a line if they are long."""
    arguments = [f"{name}={_json(value)}" for name, value in event.arguments.items()]
    line = f"{event.tool}({', '.join(arguments)})"
    return line if len(line) <= SHORT_RESULT else f"{event.tool}(\n  " + ",\n  ".join(arguments) + ")"


def _json(value: Json) -> str:
    """A value on one line, or indented if it is long."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= SHORT_RESULT else json.dumps(value, ensure_ascii=False, indent=1)
