"""What a trace is under every interpretation of the law, and whether an attempt succeeds.

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

An end of a task is active under I as a rule of the law is. With R the ends that the final state of an attempt equals,

    S(I) = broken        if no end in R is active under I: it misses the goal
           V(I)          else

so S(I) = kept if the attempt reaches an end of I, and keeps the rules of I. It is a success if S(I) = kept for all I,
an arguable one if S(I) = kept for some I and broken for some, and a failure if S(I) = broken for all I.

Questions that a rule names together, or of which readings exclude each other, are decided together: they form a
group. An interpretation is a free choice of one combination of readings for each group. So V(I) is kept if the rules
without questions and those of each group are, and all V(I) are broken if a rule without questions is broken, or one
group is broken under each of its combinations. S is computed alike, from the ends in R that are needed: where none is
active under all I, the groups of their questions are one, which also is broken where none of them is active. Plain
enumeration of all interpretations says the same.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    return rule.source == "law" and holds(rule.under, readings)


def holds(under: Under, readings: Mapping[str, str]) -> bool:
    """Whether what is so under some readings is so under these."""
    return all(readings[name] in of for name, of in under.items())


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


def question_groups(rules: Iterable[HasQuestions], together: Collection[str] = ()) -> tuple[QuestionGroup, ...]:
    """The groups of the questions on which rules of the law depend, in the order of their first questions.

    `together`: questions that are decided together, too, such as those of the ends that an attempt reaches.

    Raises InputError for two questions of one id, for too many combinations, if all readings exclude each other, and
    for a question of `together` that is none of the rules.
    """
    known: dict[str, Question] = {}
    joined: list[Iterable[str]] = [together]
    for rule in rules:
        if rule.source == "law" and rule.under:
            joined.append(rule.under)
            for question in rule.questions:
                if known.setdefault(question.id, question) != question:
                    raise InputError(f"rule {rule.id!r}: its question {question.id!r} is not the one of other rules")
    if unknown := {*together} - known.keys():
        raise InputError(f"an end depends on the question {min(unknown)!r}, on which no rule depends; find ends anew")
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
    def trace_outcome(self) -> TraceOutcome: ...


def judge_readings(
    groups: Sequence[QuestionGroup], rules: Iterable[JudgedRule], reached: Sequence[Under] = ()
) -> tuple[ReadingsVerdict, ...]:
    """What a trace does to the rules of each group, without the groups whose rules it keeps under all readings.

    `reached`: see `judge_attempt`.
    """
    others = [rule for rule in rules if rule.trace_outcome != "kept" and rule.under and rule.source == "law"]
    found: list[ReadingsVerdict] = []
    for group in groups:
        own = [rule for rule in others if next(iter(rule.under)) in group.questions]
        ends = [under for under in reached if next(iter(under)) in group.questions]
        if own or ends:
            verdicts: list[tuple[tuple[str, ...], TraceOutcome]] = []
            missed: list[tuple[str, ...]] = []
            for readings in group.combinations:
                taken = dict(zip(group.questions, readings, strict=True))
                verdicts.append((readings, worst(rule.trace_outcome for rule in own if is_active(rule, taken))))
                missed += [readings] if ends and not any(holds(under, taken) for under in ends) else []
            if own or missed:
                found.append(ReadingsVerdict(questions=group.questions, outcomes=(*verdicts,), missed=(*missed,)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class JudgedAttempt:
    """What an attempt is under all interpretations.

    Attributes:
        legality: of its trace; ``success``: the same of S, so lawful if it succeeds under all interpretations, and
            unlawful if it does under none.
        is_reached: whether it reaches an end under all interpretations.
        readings: what it does under the readings of each group of questions on which something turns.
    """

    legality: Legality
    success: Legality
    is_reached: bool
    readings: tuple[ReadingsVerdict, ...]


def judge_attempt(
    groups: Sequence[QuestionGroup], rules: Sequence[JudgedRule], reached: Sequence[Under]
) -> JudgedAttempt:
    """What an attempt is.

    `rules`: the verdicts on all rules. `reached`: the readings under which what it reaches is an end, all of whose
    questions are in one of the groups; {} if it is one under all, nothing if it reaches none.
    """
    readings = judge_readings(groups, rules, reached if all(reached) else ())
    always = worst(rule.trace_outcome for rule in rules if rule.source == "law" and not rule.under)
    law: list[set[TraceOutcome]] = [{always}, *({outcome for _, outcome in group.outcomes} for group in readings)]
    ending: TraceOutcome = always if reached else "broken"
    success: list[set[TraceOutcome]] = [{ending}, *({outcome for _, outcome in group.successes} for group in readings)]
    is_reached = bool(reached) and not any(group.missed for group in readings)
    return JudgedAttempt(_over_all(law), _over_all(success), is_reached, readings)


def judge_legality(
    groups: Sequence[QuestionGroup], rules: Sequence[JudgedRule]
) -> tuple[Legality, tuple[ReadingsVerdict, ...]]:
    """What a trace is under all interpretations, and what it does under the readings of each group (`judge_readings`).

    `rules`: the verdicts on all rules.
    """
    found = judge_attempt(groups, rules, [{}])
    return found.legality, found.readings


def _over_all(possible: Sequence[set[TraceOutcome]]) -> Legality:
    """What something is under all interpretations, by its outcomes without a reading, and under those of each group."""
    if all(found == {"kept"} for found in possible):
        return "lawful"
    if any(found == {"broken"} for found in possible):
        return "unlawful"
    can_be_kept = all("kept" in found for found in possible)
    can_be_broken = any("broken" in found for found in possible)
    return "arguable" if can_be_kept and can_be_broken else "undetermined"


@dataclass(frozen=True, slots=True)
class _RuleOutcome:
    source: RuleSource
    under: Under
    trace_outcome: TraceOutcome


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
