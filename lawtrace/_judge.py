"""Loading environments and rules, and judging traces: the part of the public API that needs no model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import RuleJudge
from lawtrace.schemas.errors import InputError, describe_validation_error
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import Legality, ReadingsVerdict
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import Rule, check_rules
from lawtrace.solver.rules import load_rules as read_rules

Source = str | PathLike[str]

_EVENT = TypeAdapter(Event)


class RuleSet(tuple[Rule, ...]):
    """The rules that a trace is judged by. Each has its own id."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """The verdict on one trace: every rule with its evidence.

    Attributes:
        rules: one `RuleVerdict` a rule, in the order of the rule set. ``broken_at`` is the index of the event after
            which the rule could not be kept any more; None if only the end of the trace decided.
        legality: what the trace is under all readings of open questions (`lawtrace.solver.interpretations`).
        readings: what it does under the readings of the questions on which it turns.
        explanations: the same in words: what is asked, and what each reading says of the trace.
    """

    rules: tuple[RuleVerdict, ...]
    legality: Legality
    readings: tuple[ReadingsVerdict, ...] = ()
    explanations: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether every rule is kept."""
        return all(rule.kept for rule in self.rules)

    @property
    def broken(self) -> tuple[RuleVerdict, ...]:
        """The rules that do not hold."""
        return tuple(rule for rule in self.rules if rule.broken)

    @property
    def undetermined(self) -> tuple[RuleVerdict, ...]:
        """The rules that are neither kept nor broken, with the reason."""
        return tuple(rule for rule in self.rules if rule.undetermined)


def load_environment(where: Source) -> Domain:
    """Load an environment with its regulation: ``banking``, ``telehealth``, ``smart_home``, or a folder of your own.

    A folder is named with a separator (``./airline``); its Python is run. Raises InputError naming file and line.
    """
    return load_domain(str(where))


def load_rules(path: Source, tools: Domain | Environment | None = None) -> RuleSet:
    """Load a rule set from TOML (``[[rules]]``) or JSON lines, and check it against the tools.

    With ``tools``, every tool, argument, result and citation that a rule names must exist. Raises InputError naming
    the rule, and FormulaError with the column.
    """
    rules = read_rules(Path(path))
    match tools:
        case Domain():
            check_rules(rules, tools.environment, tools.regulation)
        case Environment():
            check_rules(rules, tools)
        case None:
            for rule in rules:
                _ = rule.compiled  # a formula that does not parse, or is too large, is an error of the file
    return RuleSet(rules)


def judge(
    rules: Iterable[Rule], events: Iterable[Event | Mapping[str, Any]], *, complete: bool = True, end: int | None = None
) -> TraceVerdict:
    """Judge a trace.

    Args:
        rules: each with its own id.
        events: `Event` objects, or mappings with their fields: ``tool``, ``arguments``, ``outcome`` (default
            ``completed``), ``result``, ``error``, ``time`` (seconds, for rules about time).
        complete: whether the trace is all that happened. A duty that is open at the end of a complete trace is broken;
            at the end of another trace, its rule is undetermined.
        end: the time at which a complete trace ends. What is due only later leaves its rule undetermined.

    Raises:
        InputError: naming the event that is malformed, or earlier than the event before it.
    """
    given = [_event(event, at) for at, event in enumerate(events)]
    rule_judge = RuleJudge(tuple(rules))
    verdicts = rule_judge.judge(given, complete=complete, end=end, explained=True)
    legality, readings = rule_judge.legality(verdicts)
    return TraceVerdict(verdicts, legality, readings, tuple(rule_judge.explain_readings(readings)))


def _event(event: Event | Mapping[str, Any], at: int) -> Event:
    if isinstance(event, Event):
        return event
    try:
        return _EVENT.validate_python(event)
    except ValidationError as error:
        raise InputError(f"event {at}: {describe_validation_error(error)}") from error
