"""What a trace is under every interpretation of the law.

An interpretation I takes one reading for each open question, no two of which exclude each other. A rule is active under
I if for each question of its `under` I takes one of the readings listed there; a rule of the manual never is. With
o(r) the outcome of a rule for a trace to the end of its session,

    V(I) = broken        if o(r) = broken for a rule r that is active under I
           undetermined  else, if o(r) = undetermined for such a rule
           kept          else

and the trace is

    lawful        if V(I) = kept for all I
    unlawful      if V(I) = broken for all I
    arguable      if V(I) = kept for some I, and broken for some I
    undetermined  else

Questions that a rule names together, or of which readings exclude each other, are decided together: they form a
group. An interpretation is a free choice of one combination of readings for each group. So V(I) is kept if the rules
without questions and those of each group are, and all V(I) are broken if a rule without questions is broken, or one
group is broken under each of its combinations. This is what is computed; plain enumeration of all interpretations says
the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Final, Protocol

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.questions import Legality, Question, ReadingsVerdict, RuleSource, TraceOutcome, Under

MAX_COMBINATIONS: Final = 4_096
"""Maximum number of combinations of readings of questions that are decided together."""


class Conditional(Protocol):
    """A rule, or a verdict on one, as far as its questions matter."""

    @property
    def source(self) -> RuleSource: ...
    @property
    def under(self) -> Mapping[str, tuple[str, ...]]: ...


def is_active(rule: Conditional, readings: Mapping[str, str]) -> bool:
    """Whether a rule of the law is active. `readings`: of each question that it names."""
    return rule.source == "law" and all(readings[name] in of for name, of in rule.under.items())


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """Questions that are decided together. ``combinations``: those of their readings that can be held."""

    questions: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]


class HasQuestions(Conditional, Protocol):
    """A rule with the questions on which it depends."""

    @property
    def id(self) -> str: ...
    @property
    def questions(self) -> tuple[Question, ...]: ...


def question_groups(rules: Iterable[HasQuestions]) -> tuple[QuestionGroup, ...]:
    """The groups of the questions on which rules of the law depend, in the order of their first questions.

    Raises InputError for two questions of one id, for too many combinations, and if all readings exclude each other.
    """
    known: dict[str, Question] = {}
    joined: list[Iterable[str]] = []
    for rule in rules:
        if rule.source == "law" and rule.under:
            joined.append(rule.under)
            for question in rule.questions:
                if known.setdefault(question.id, question) != question:
                    raise InputError(f"rule {rule.id!r}: its question {question.id!r} is not the one of other rules")
    joined += [[one.id, *reading.excludes] for one in known.values() for reading in one.readings]
    group = {name: {name} for name in known}
    for names in joined:
        together = set[str]().union(*(group[name] for name in names if name in known))
        group.update(dict.fromkeys(together, together))
    found = dict.fromkeys(tuple(name for name in known if name in group[first]) for first in known)
    return tuple(_group([known[name] for name in names]) for names in found)


def are_compatible(groups: Iterable[QuestionGroup], rules: Iterable[Conditional]) -> bool:
    """Whether all the rules hold under some interpretation, those of the manual aside."""
    needed = [(name, of) for rule in rules if rule.source == "law" for name, of in rule.under.items()]
    taken = ([dict(zip(group.questions, readings, strict=True)) for readings in group.combinations] for group in groups)
    return all(any(all(readings.get(name, of[0]) in of for name, of in needed) for readings in each) for each in taken)


def holds_whenever(other: Conditional, rule: Conditional) -> bool:
    """Whether `other` holds wherever `rule` does. A manual need not be shown, so its rules do not."""
    if other.source != "law" and rule.source == "law":
        return False
    return all(set(rule.under.get(name, ())) <= set(of) and name in rule.under for name, of in other.under.items())


def _group(questions: Sequence[Question]) -> QuestionGroup:
    names = tuple(question.id for question in questions)
    listed = ", ".join(map(repr, names))
    if (size := prod(len(question.readings) for question in questions)) > MAX_COMBINATIONS:
        raise InputError(
            f"the questions {listed} are decided together and have {size:,} combinations of readings, of at most "
            f"{MAX_COMBINATIONS:,}; let fewer rules name several of them"
        )
    combinations = tuple(
        tuple(reading.id for reading in readings)
        for readings in product(*(question.readings for question in questions))
        if not any(
            one.id in other.excludes.get(name, ())
            for name, one in zip(names, readings, strict=True)
            for other in readings
        )
    )
    if not combinations:
        raise InputError(f"the readings of {listed} exclude each other in every combination; drop an `excludes`")
    return QuestionGroup(names, combinations)


class JudgedRule(Conditional, Protocol):
    """A verdict on a rule."""

    @property
    def outcome(self) -> TraceOutcome: ...


def judge_readings(groups: Sequence[QuestionGroup], rules: Iterable[JudgedRule]) -> tuple[ReadingsVerdict, ...]:
    """What a trace does to the rules of each group, without the groups whose rules it keeps under all readings."""
    others = [rule for rule in rules if rule.outcome != "kept" and rule.under and rule.source == "law"]
    found: list[ReadingsVerdict] = []
    for group in groups:
        if own := [rule for rule in others if next(iter(rule.under)) in group.questions]:
            verdicts: list[tuple[tuple[str, ...], TraceOutcome]] = []
            for readings in group.combinations:
                taken = dict(zip(group.questions, readings, strict=True))
                verdicts.append((readings, worst(rule.outcome for rule in own if is_active(rule, taken))))
            found.append(ReadingsVerdict(questions=group.questions, outcomes=tuple(verdicts)))
    return tuple(found)


def judge_legality(
    groups: Sequence[QuestionGroup], rules: Sequence[JudgedRule]
) -> tuple[Legality, tuple[ReadingsVerdict, ...]]:
    """What a trace is under all interpretations, and what it does under the readings of each group (`judge_readings`).

    `rules`: the verdicts on all rules.
    """
    always = worst(rule.outcome for rule in rules if rule.source == "law" and not rule.under)
    readings = judge_readings(groups, rules)
    possible = [{always}, *({outcome for _, outcome in group.outcomes} for group in readings)]
    if all(found == {"kept"} for found in possible):
        return "lawful", readings
    if any(found == {"broken"} for found in possible):
        return "unlawful", readings
    can_be_kept = all("kept" in found for found in possible)
    can_be_broken = any("broken" in found for found in possible)
    return "arguable" if can_be_kept and can_be_broken else "undetermined", readings


@dataclass(frozen=True, slots=True)
class _RuleOutcome:
    source: RuleSource
    under: Under
    outcome: TraceOutcome


def legality_of(
    groups: Sequence[QuestionGroup], rules: Iterable[HasQuestions], outcomes: Mapping[str, TraceOutcome]
) -> Legality:
    """What a trace is under all interpretations, by its outcome for each rule, which has the rule's id."""
    judged = [_RuleOutcome(rule.source, rule.under, outcomes[rule.id]) for rule in rules]
    return judge_legality(groups, judged)[0]


def worst(outcomes: Iterable[TraceOutcome]) -> TraceOutcome:
    """The outcome of several rules: broken if one is broken, else undetermined if one is, else kept."""
    found = {"kept", *outcomes}
    return next(outcome for outcome in _BY_WEIGHT if outcome in found)


_BY_WEIGHT: Final[tuple[TraceOutcome, ...]] = ("broken", "undetermined", "kept")


def explain_readings(
    verdict: ReadingsVerdict,
    questions: Mapping[str, Question],
    subject: str = "The law is",
    words: Mapping[TraceOutcome, str] = MappingProxyType({}),
) -> str:
    """What each reading says of a trace, in a sentence.

    `questions`: by id. `subject`, `words`: how the sentence begins, and words for the outcomes.
    """
    asked = [questions[name] for name in verdict.questions]
    about = ", ".join(dict.fromkeys(citation for question in asked for citation in question.provisions))
    found: list[str] = []
    for outcome in _BY_WEIGHT:
        cases = [
            " and ".join(
                reading.means.rstrip(".")
                for question, name in zip(asked, names, strict=True)
                for reading in question.readings
                if reading.id == name
            )
            for names in verdict.readings_with(outcome)
        ]
        found += [f"{words.get(outcome, outcome)} if {', or if '.join(cases)}"] if cases else []
    return f"{about} is open: {' '.join(question.asks for question in asked)} {subject} {'; '.join(found)}"


def enumerate_interpretations(groups: Sequence[QuestionGroup]) -> Iterator[dict[str, str]]:
    """All interpretations, each as the reading of each question."""
    for choice in product(*(group.combinations for group in groups)):
        yield {
            name: reading
            for group, readings in zip(groups, choice, strict=True)
            for name, reading in zip(group.questions, readings, strict=True)
        }
