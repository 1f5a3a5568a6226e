"""Rules: temporal formulas with the provisions they rest on.

A rule set is read from the curated TOML file of an environment or from a stage file (JSON lines, one rule a line).
Every formula is checked against the tools that it names.
"""

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Final, Literal, Self, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.toml_file import place_in_toml, read_toml
from lawtrace.schemas.errors import FormulaError, InputError, describe_validation_error, input_errors
from lawtrace.schemas.events import CALLS, SPEAKERS, Event
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import Legality, Question, RuleSource, TraceOutcome, Under
from lawtrace.schemas.violations import TemplateName
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.interpretations import question_groups
from lawtrace.solver.logic import parser
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.logic.safety import UnsafeFormulaError, check_safety
from lawtrace.solver.logic.signature import environment_signature
from lawtrace.solver.logic.skeleton import has_table
from lawtrace.solver.logic.syntax import SAYS, Formula, atoms_of, is_untimed
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.logic.terms import ACTOR_FIELDS
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.logic.violations import ignores_other_calls, triggers
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.rule_status import Violation
from lawtrace.solver.predicates import fields_read

MOST_LETTERS: Final = 100
"""Up to how many letters a monitor runs an automaton, if the rule can be evaluated instead."""
_Model = TypeVar("_Model", bound=BaseModel)
RuleKind = Literal[
    "duty before",
    "duty after",
    "deadline",
    "conditional duty",
    "exception",
    "prohibition",
    "data minimisation",
    "limit",
    "binding",
    "separation of duties",
    "refusal",
    "repair",
]
"""What a rule asks of an agent, as a lawyer would sort it."""


class Definition(StrictModel):
    """A notion that formulas of a rule set use by its name: `disclosure(q)`.

    Attributes:
        name: as tools are named, and not the name of one.
        parameters: the variables of the formula.
        formula: what it stands for; it may use definitions that come before it.
        means: what it means, for a lawyer.
        under: as of a `Rule`. Definitions of one name are its variants; exactly one of them holds under each reading.
    """

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    parameters: tuple[str, ...] = ()
    formula: str = Field(min_length=1)
    means: str = ""
    under: Under = Field(default={}, exclude_if=lambda value: not value)


class Rule(StrictModel):
    """One temporal formula, the provisions it rests on, and the reason.

    Attributes:
        id: short and unique in its rule set.
        formula: in any syntax that `lawtrace.solver.logic.parser.parse` reads.
        definitions: the definitions that the formula uses, each after those that it uses itself.
        source: whether the law demands it, or the owner's manual.
        under: the readings of open questions under which the rule holds.
        questions: the questions of `under`.
        regulation: the id of the regulation cited.
        provisions: citations of the provisions that the rule rests on.
        kind: what it asks; None for rules that were not sorted, such as extracted ones.
        rationale: how the provision becomes this formula over these tools.
        ask: whether a person may permit a call that breaks it.
        across_sessions: whether it is about all sessions together, in order of time, instead of each by itself.
        may_refuse: the name of a definition: of a refusal to which the provisions give a right, as of a repetitive
            request. Its last parameter is what is refused. Such a refusal is an end even of what could be done.
    """

    schema_version: Literal["lawtrace.rule/2"] = "lawtrace.rule/2"
    id: str = Field(min_length=1)
    formula: str = Field(min_length=1)
    definitions: tuple[Definition, ...] = Field(default=(), exclude_if=lambda value: not value)
    source: RuleSource = Field(default="law", exclude_if=lambda value: value == "law")
    under: Under = Field(default={}, exclude_if=lambda value: not value)
    questions: tuple[Question, ...] = Field(default=(), exclude_if=lambda value: not value)
    regulation: str = ""
    provisions: tuple[str, ...] = ()
    kind: RuleKind | None = None
    rationale: str = ""
    ask: bool = Field(default=False, exclude_if=lambda value: not value)
    across_sessions: bool = Field(default=False, exclude_if=lambda value: not value)
    may_refuse: str = Field(default="", exclude_if=lambda value: not value)

    def __hash__(self) -> int:
        return hash((self.id, self.formula))

    @model_validator(mode="after")
    def _knows_its_readings(self) -> Self:
        for name, readings in self.under.items():
            question = next((one for one in self.questions if one.id == name), None)
            if question is None:
                raise ValueError(f"is under the question {name!r}, which does not exist")
            known = [one.id for one in question.readings]
            if wrong := [reading for reading in readings if reading not in known]:
                raise ValueError(f"question {name!r} has no reading {wrong[0]!r}; its readings: {', '.join(known)}")
        return self

    @cached_property
    def notions(self) -> tuple[parser.Definition, ...]:
        """The parsed definitions. Raises FormulaError naming rule, definition, line and column."""
        known: tuple[parser.Definition, ...] = ()
        with _naming(self):
            for one in self.definitions:
                with _in_definition(one):
                    known += (parser.define(one.name, one.parameters, one.formula, known),)
        return known

    @cached_property
    def parsed(self) -> Formula:
        """The parsed formula. Raises FormulaError naming the rule, line and column."""
        notions = self.notions
        with _naming(self):
            return parser.parse(self.formula, notions)

    @cached_property
    def no_right_used(self) -> FirstOrderRule | None:
        """The formula that refusals to which the provisions give a right violate; None if they give none."""
        if not self.may_refuse:
            return None
        parameters = next((one.parameters for one in self.definitions if one.name == self.may_refuse), ())
        named = ", ".join(parameters)
        with _naming(self):
            if not parameters:
                raise FormulaError(f"`may_refuse` needs a definition with a parameter, not {self.may_refuse!r}")
            return FirstOrderRule(parser.parse(f"forall {named}: G !{self.may_refuse}({named})", self.notions))

    def rights_used(self, events: Iterable[Event]) -> list[Violation]:
        """The refusals among some events to which the provisions give a right, as violations of `no_right_used`."""
        if self.no_right_used is None:
            return []
        monitor = FirstOrderMonitor(self.no_right_used)
        for event in events:
            monitor.feed(event)
        return [*monitor.violations, *monitor.violated_at_end()]

    @cached_property
    def automaton(self) -> Automaton:
        """The minimal DFA over one tool call a step. Raises FormulaError naming the rule if there is none."""
        with _naming(self):
            return compile_formula(self.parsed)

    @cached_property
    def compiled(self) -> Automaton | FirstOrderRule:
        """What a monitor runs: the automaton, or for a rule with time or several variables its evaluation.

        Raises FormulaError naming the rule if it would be too large or is not safe.
        """
        if is_untimed(self.parsed):
            with _naming(self), suppress(UnsafeFormulaError):
                if len(Alphabet.of([self.parsed]).letters) > MOST_LETTERS:  # the automaton would take minutes
                    return FirstOrderRule(self.parsed)
            return self.automaton
        with _naming(self):
            return FirstOrderRule(self.parsed)

    @cached_property
    def encodable(self) -> Automaton | FirstOrderRule:
        """The form that makes the smaller encoding for Z3: one variable is followed by its formula if that is safe."""
        if self.has_table:
            return self.automaton
        with suppress(UnsafeFormulaError):
            if is_untimed(self.parsed):  # the automaton is smaller than a formula that has to be rewritten
                check_safety(normal_form(self.parsed))
            return FirstOrderRule(self.parsed)
        return self.compiled

    @cached_property
    def tools(self) -> frozenset[str]:
        """The tools that it names, of messages ``user`` and ``agent``."""
        return frozenset(atom.tool for atom in atoms_of([self.parsed]))

    @cached_property
    def clock_tools(self) -> frozenset[str]:
        """The tools of whose calls a condition asks when they happened."""
        return frozenset(atom.tool for atom in atoms_of([self.parsed]) if atom.reads_clock)

    @cached_property
    def counts_steps(self) -> bool:
        """Whether a call of a tool that it does not name can change its value."""
        compiled = self.compiled
        if isinstance(compiled, Automaton):
            other = compiled.alphabet.columns[0]
            return any(row[other] != state for state, row in enumerate(compiled.table))
        violations = [case.formula for case in compiled.cases if case.every_step]
        if len(violations) < len(compiled.cases):
            return True
        return any(triggers(one) is None or not ignores_other_calls(one) for one in violations)

    @cached_property
    def is_timed(self) -> bool:
        """Whether its value depends on the times of events."""
        return self.compiled.timed if isinstance(self.compiled, FirstOrderRule) else bool(self.clock_tools)

    @cached_property
    def predicates(self) -> frozenset[tuple[str, str]]:
        """What it asks of messages that a model has to judge, each with the speaker."""
        found = fields_read(self.parsed)
        return frozenset((tool, str(one.path[1])) for tool, one in found if tool in SPEAKERS and one.path[0] == SAYS)

    @cached_property
    def asks_calls(self) -> bool:
        """Whether it asks which tools a message of the agent calls."""
        return any(tool in SPEAKERS and field.path[0] == CALLS for tool, field in fields_read(self.parsed))

    @property
    def audits_only(self) -> str | None:
        """Why only an audit can judge it; None if others can, too."""
        if self.predicates:
            return "asks what messages say"
        return "asks which tools a message calls" if self.asks_calls else None

    @cached_property
    def asks_actor(self) -> bool:
        """Whether it asks who acts."""
        return any(field.path in ACTOR_FIELDS for _, field in fields_read(self.parsed))

    @cached_property
    def has_table(self) -> bool:
        """Whether an automaton over the calls alone decides it: it is not about time, several objects or sums."""
        return has_table(self.parsed)

    @property
    def act(self) -> str:
        """The name before its citations; none before those of the manual."""
        return self.regulation if self.source == "law" else ""

    @cached_property
    def template(self) -> TemplateName:
        match match_template(self.parsed):
            case OperationalRestriction():
                return "operational restriction"
            case InstructionAdherence():
                return "instruction adherence"
            case None:
                return "general"


def rules_across(rules: Iterable[Rule], *, across: bool) -> tuple[Rule, ...]:
    """The rules that are about all sessions together, or about each by itself."""
    return tuple(rule for rule in rules if rule.across_sessions is across)


@contextmanager
def _naming(rule: Rule) -> Generator[None]:
    """Names the rule in a FormulaError."""
    try:
        yield
    except FormulaError as error:
        raise FormulaError(f"rule {rule.id!r}: {error}") from error


@contextmanager
def _in_definition(definition: Definition) -> Generator[None]:
    try:
        yield
    except FormulaError as error:
        raise FormulaError(f"definition {definition.name!r}: {error}") from error


class RuleExample(StrictModel):
    """Short traces about one rule, in the notation of `lawtrace.solver.trace_notation`. There is at least one.

    Attributes:
        words: the words of a cited provision that decide, with `...` for what is left out.
        kept: a trace that keeps the rule.
        broken: a trace that breaks it.
        undetermined: a trace at whose end a duty is not due yet.
        under: for a rule whose definitions have variants, the readings with which the example goes; all by default.
    """

    words: str = ""
    kept: str | None = None
    broken: str | None = None
    undetermined: str | None = None
    under: Under = Field(default={})

    def is_about(self, rule: Rule) -> bool:
        """Whether it is about this variant of its rule."""
        return all(set(readings).intersection(rule.under.get(name, readings)) for name, readings in self.under.items())

    @model_validator(mode="after")
    def _has_a_trace(self) -> Self:
        if not self.traces:
            raise ValueError("has no trace; give it `kept`, `broken` or `undetermined`")
        return self

    @property
    def traces(self) -> Mapping[TraceOutcome, str]:
        """The traces by what they do to the rule."""
        verdicts: tuple[TraceOutcome, ...] = get_args(TraceOutcome)
        return {verdict: trace for verdict in verdicts if (trace := getattr(self, verdict)) is not None}


class SessionExample(StrictModel):
    """A trace about a whole rule set.

    Attributes:
        about: what happens in it.
        trace: in the notation of `lawtrace.solver.trace_notation`.
        breaks: the ids of the rules that it does not keep; it keeps all others.
        verdict: what it is under all interpretations, by the rules of the law; None if that is not asked.
    """

    about: str = Field(min_length=1)
    trace: str
    breaks: tuple[str, ...] = ()
    verdict: Legality | None = None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A curated TOML file: rules, and the examples that `lawtrace rules check` runs."""

    rules: tuple[Rule, ...]
    examples: tuple[tuple[Rule, tuple[RuleExample, ...]], ...] = ()
    sessions: tuple[SessionExample, ...] = ()


def check_rules(rules: Iterable[Rule], environment: Environment, regulation: Regulation | None = None) -> None:
    """Check the formulas against the environment's declaration, and that every cited provision exists.

    A formula may be about user and agent messages, too. In sessions without messages such an atom is never true.

    Raises:
        InputError: the rule, the place in its formula, and the remedy.
    """
    signature = environment_signature(environment)
    rules = tuple(rules)
    if twice := _first_twice(rule.id for rule in rules):
        raise InputError(f"rule {twice!r} occurs twice; give each rule its own id")
    question_groups(rules)
    for rule in rules:
        formula = rule.parsed
        if rule.no_right_used is not None:
            with _naming(rule):
                check_formula(rule.no_right_used.formula, signature, rule.may_refuse)
        if taken := next((one.name for one in rule.definitions if one.name in signature), None):
            raise InputError(f"rule {rule.id!r}: the definition {taken!r} has the name of a tool; give it another")
        with _naming(rule):
            check_formula(formula, signature, rule.formula)
        if regulation is None or (rule.regulation != regulation.id and rule.source == "law"):
            continue
        for citation in (*rule.provisions, *(one for question in rule.questions for one in question.provisions)):
            of_manual = regulation.manual_entry(citation) is not None
            if of_manual != (rule.source == "manual") or not (of_manual or citation in regulation.by_citation):
                where = "the manual" if rule.source == "manual" else f"{regulation.id} as given"
                raise InputError(f"rule {rule.id!r} cites {citation!r}, which {where} does not contain")


def read_rule_file(path: Path) -> RuleFile:
    """The ``[[rules]]`` of a TOML file, their ``[[rules.examples]]``, and ``[[examples]]`` of the whole set; with the
    ``[[questions]]`` and ``[[definitions]]`` that the rules depend on.

    A rule that uses a definition with variants becomes a rule for each of them, with the readings in its id:
    `true-report@narrow`. Raises InputError naming file, line, rule and example.
    """
    raw = read_toml(path)
    if not raw:
        raise InputError(f"{path}: is empty; write a rule as a [[rules]] table")
    if not isinstance(raw.get("rules"), list) or not set(raw) <= {"rules", "examples", "questions", "definitions"}:
        raise InputError(
            f"{path}: has {', '.join(map(repr, raw))}; expected nothing but [[rules]] tables, [[definitions]], "
            "[[questions]] and [[examples]]"
        )
    questions = _each(Question, raw.get("questions", ()), f"{path}, question")
    if twice := _first_twice(question.id for question in questions):
        raise InputError(f"{path}: question {twice!r} occurs twice; give each its own id")
    definitions = _each(Definition, raw.get("definitions", ()), f"{path}, definition")
    _check_variants(path, definitions, questions)
    rules: list[Rule] = []
    examples: list[tuple[Rule, tuple[RuleExample, ...]]] = []
    for number, entry in enumerate(_items(raw["rules"]), 1):
        written: object = cast("dict[str, object]", entry).pop("examples", ()) if isinstance(entry, dict) else ()
        try:
            rule = _validated(_WrittenRule, cast("object", entry), f"rule {number}")
            own = _each(RuleExample, written, f"rule {number}, example")
            for variant in _variants(rule, definitions, questions, f"rule {number}"):
                rules.append(variant)
                examples.append((variant, tuple(one for one in own if one.is_about(variant))))
        except InputError as error:  # the place is looked up on error only, since it reads the file
            raise InputError(f"{place_in_toml(path, ('rules', number - 1))}, {error}") from error
    return RuleFile(tuple(rules), tuple(examples), _each(SessionExample, raw.get("examples", ()), f"{path}, example"))


def used_definitions(formula: str, definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """The definitions that a formula uses, directly or through others, in their order."""
    texts, used = [formula], list[Definition]()
    for one in reversed(definitions):
        if any(re.search(rf"\b{one.name}\b", text) for text in texts):
            used.insert(0, one)
            texts.append(one.formula)
    return tuple(used)


class _WrittenRule(StrictModel):
    """A rule as a file has it."""

    model_config = ConfigDict(extra="allow")
    formula: str = Field(min_length=1)
    under: Under = Field(default={})
    may_refuse: str = ""


def _variants(
    rule: _WrittenRule, definitions: Sequence[Definition], questions: Sequence[Question], place: str
) -> Iterator[Rule]:
    """The rule for each choice among the variants of the definitions that it uses."""
    used: dict[str, list[Definition]] = {}
    for one in used_definitions(f"{rule.formula} {rule.may_refuse}", definitions):
        used.setdefault(one.name, []).append(one)
    choices = list(product(*used.values()))
    for choice in choices:
        chosen = tuple(one for one in definitions if any(one is other for other in choice))
        under = _narrowed([rule.under, *(one.under for one in chosen)])
        if all(under.values()):
            fields = rule.model_dump() | {"definitions": chosen, "under": under}
            fields["questions"] = tuple(question for question in questions if question.id in under)
            if len(choices) > 1:
                named = "+".join("/".join(of) for name, of in under.items() if of != rule.under.get(name))
                fields["id"] = f"{fields.get('id', '')}@{named}"
            yield _validated(Rule, fields, place)


def _narrowed(several: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """The readings under which all of them hold."""
    found: dict[str, tuple[str, ...]] = {}
    for under in several:
        for name, readings in under.items():
            found[name] = tuple(one for one in found.get(name, readings) if one in readings)
    return found


def _check_variants(path: Path, definitions: Sequence[Definition], questions: Sequence[Question]) -> None:
    """Raise InputError unless exactly one definition of each name holds under each reading."""
    readings = {question.id: [one.id for one in question.readings] for question in questions}
    for name in dict.fromkeys(one.name for one in definitions):
        variants = [one for one in definitions if one.name == name]
        asked = list(dict.fromkeys(question for one in variants for question in one.under))
        if unknown := [question for question in asked if question not in readings]:
            raise InputError(f"{path}: definition {name!r} is under the question {unknown[0]!r}, which does not exist")
        for taken in product(*(readings[question] for question in asked)):
            held = dict(zip(asked, taken, strict=True))
            count = sum(all(held[question] in of for question, of in one.under.items()) for one in variants)
            if count != 1:
                where = f" under {', '.join(taken)}" if taken else ""
                raise InputError(f"{path}: {count} definitions of {name!r} hold{where}; there must be one")


def _first_twice(names: Iterable[str]) -> str | None:
    seen = set[str]()
    return next((name for name in names if name in seen or seen.add(name)), None)


def load_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file: curated TOML, or JSON lines of a stage. Raises InputError naming the line."""
    return load_rule_file(path).rules


def load_rule_file(path: Path) -> RuleFile:
    """The rules of a file, with the examples of curated ones. Raises as `load_rules`."""
    file = read_rule_file(path) if path.suffix == ".toml" else RuleFile(_read_rule_lines(path))
    if not file.rules:
        raise InputError(f"{path}: contains no rules; with an empty rule set every attempt would be compliant")
    return file


def _read_rule_lines(path: Path) -> tuple[Rule, ...]:
    with input_errors(path):
        # Not splitlines(): a JSON string may hold other line separators than the one that ends a row.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    rules: list[Rule] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}") from error
        rules.append(_validated(Rule, entry, f"{path}, line {number}"))
    return tuple(rules)


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def _each(model: type[_Model], written: object, kind: str) -> tuple[_Model, ...]:
    return tuple(_validated(model, entry, f"{kind} {number}") for number, entry in enumerate(_items(written), 1))


def _validated(model: type[_Model], entry: object, place: str) -> _Model:
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        raise InputError(f"{place}: {describe_validation_error(error)}") from error
