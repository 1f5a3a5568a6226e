"""What a guard is asked, and what it answers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, Actor, Event, Json, name_actor
from lawtrace.solver.rules import Rule

MAX_WORDS: Final = 60
"""How long the sentence of a provision is."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an agent wants to make.

    Attributes:
        tool: its name.
        arguments: by parameter, as JSON values.
        id: tells equal calls that run at the same time apart; None if there is none.
        by: who makes it; a guard takes that from its session.
    """

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    id: str | None = None
    by: Actor | None = None

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def read_call(call: Call | Mapping[str, Any]) -> Call:
    """A call, or an object with ``tool``, ``arguments`` and ``id``. Raises InputError for anything else."""
    if isinstance(call, Call):
        return call
    if not isinstance(cast("object", call), Mapping):
        raise InputError(f"a call needs the name of a tool, and its arguments as an object; this is {call!r}")
    tool, arguments, name = call.get("tool"), call.get("arguments", {}), call.get("id")
    if not isinstance(tool, str) or not isinstance(arguments, Mapping):
        raise InputError("a call needs the name of a tool, and its arguments as an object")
    return Call(tool, cast("Mapping[str, Json]", arguments), None if name is None else str(name))


@dataclass(frozen=True, slots=True)
class Step:
    """Something that has to happen first: a call, a message, or time that passes.

    Attributes:
        call: the call; a message is a call of ``user`` or ``agent``; None to wait.
        result: what the call has to return, as far as it matters.
        wait: seconds from the step before.
        free: arguments that the tool requires and no rule reads, with the kind of value: ``string``.
    """

    call: Call | None
    result: Mapping[str, Json] = field(default_factory=dict[str, Json])
    wait: int = 0
    free: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        if self.call is None:
            return f"wait {self.wait} seconds"
        if self.call.tool in SPEAKERS:
            text = self.call.arguments.get("text", "")
            what = repr(text) if text else "what it wants to do" if self.call.tool == "agent" else "something"
            said = f"the {self.call.tool} says {what}"
            return f"{said} after {self.wait} seconds" if self.wait else said
        returned = ", ".join(f"{name} = {_json(value)}" for name, value in _scalars(dict(self.result)))
        later = f" after {self.wait} seconds" if self.wait else ""
        given = [f"{name}={value!r}" for name, value in self.call.arguments.items()]
        given += [f"{name}=<{kind}>" for name, kind in self.free.items()]
        written = f"{self.call.tool}({', '.join(given)})"
        return f"{written}{f' with the result {returned}' if returned else ''}{later}"


def _scalars(value: Json, path: str = "") -> list[tuple[str, Json]]:
    if isinstance(value, Mapping):
        return [found for name, part in value.items() for found in _scalars(part, f"{path}.{name}" if path else name)]
    return [(path or "result", value)]


def _json(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def steps_of(events: Sequence[Event], now: int, last: int, tools: Mapping[str, ToolSchema]) -> tuple[Step, ...]:
    """Events as steps from a time on; `last`: when what they lead to can happen."""
    found: list[Step] = []
    for event in events:
        time = now if event.time is None else event.time
        result = event.result if isinstance(event.result, dict) else {}
        schema = tools.get(event.tool)
        free = {} if schema is None else {name: schema.kind(name) for name in schema.missing(event.arguments)}
        found.append(Step(Call(event.tool, event.arguments), result, time - now, free))
        now = time
    return (*found, Step(None, wait=last - now)) if last > now else tuple(found)


def in_words(steps: Sequence[Step]) -> str:
    """Advice as a sentence: ``Call Check(id='A') first.``"""
    if not steps:
        return ""
    if any(step.call is None or step.call.tool in SPEAKERS for step in steps):
        return f"First: {'; then '.join(map(str, steps))}."
    return f"Call {', then '.join(map(str, steps))} first."


@dataclass(frozen=True, slots=True)
class Permission:
    """What a person said of a call.

    Attributes:
        granted: whether it may be made.
        by: who said so.
        words: the reason, for log and agent.
    """

    granted: bool
    by: str = ""
    words: str = ""

    def __str__(self) -> str:
        said = f"{self.by or 'A person'} {'permitted' if self.granted else 'did not permit'} it"
        return f"{said}: {self.words}" if self.words else f"{said}."


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a guard objects to a call.

    Attributes:
        rules: ids of the rules of which one could not be met afterwards, or which could not be met together.
        provisions: what these rules rest on, each a citation and one sentence.
        first: steps, none of which can be left out, after which the call is allowed; empty if none were found.
        undecided: whether the guard could not decide within its budget, and its fallback applies.
        unanswered: calls of which it is not known whether they were carried out, and that may be why.
        arguable: for a call that is ruled out under some readings of the law only, the open questions, and what each
            reading says, in sentences.
        answer: what a person said, if one was asked.
    """

    rules: tuple[str, ...]
    provisions: tuple[str, ...] = ()
    first: tuple[Step, ...] = ()
    undecided: bool = False
    unanswered: tuple[Call, ...] = ()
    arguable: tuple[str, ...] = ()
    answer: Permission | None = None

    @property
    def reason(self) -> str:
        """What to do, then which provisions are at stake, then what is not known, and what is open in law."""
        unknown = f"It is not known whether {_listed(self.unanswered)} happened." if self.unanswered else ""
        said = "" if self.answer is None else str(self.answer)
        if self.undecided:
            undecided = "It could not be decided within the budget whether all duties can be met afterwards."
            return " ".join(part for part in (said, undecided, unknown) if part)
        otherwise = "Otherwise it" if self.first else "It"
        if len(self.rules) > 1 and len(self.provisions) > 1:
            law = f"{otherwise} would make it impossible to meet all of these: {' '.join(self.provisions)}"
        else:
            law = f"{otherwise} would rule out compliance with this: {' '.join(self.provisions)}"
        return " ".join(part for part in (said, in_words(self.first), law, unknown, *self.arguable) if part)


def _listed(calls: Sequence[Call]) -> str:
    *others, last = map(str, calls)
    return f"{', '.join(others)} and {last}" if others else last


@dataclass(frozen=True, slots=True)
class Unchecked(Finding):
    """Why a guard was not asked about a call; there is no other finding then."""

    why: str = ""

    @property
    def reason(self) -> str:
        return f"It could not be checked: {self.why}."


def join_findings(findings: Sequence[Finding]) -> Finding:
    """One finding for all."""
    if len(findings) == 1:
        return findings[0]
    return Finding(
        tuple(dict.fromkeys(rule for finding in findings for rule in finding.rules)),
        tuple(dict.fromkeys(one for finding in findings for one in finding.provisions)),
        tuple(step for first in _distinct(finding.first for finding in findings) for step in first),
        undecided=all(finding.undecided for finding in findings),
        unanswered=tuple(dict.fromkeys(call for finding in findings for call in finding.unanswered)),
        arguable=tuple(dict.fromkeys(one for finding in findings for one in finding.arguable)),
    )


def _distinct(several: Iterable[tuple[Step, ...]]) -> list[tuple[Step, ...]]:
    found: list[tuple[Step, ...]] = []
    for steps in several:
        found += [steps] if steps not in found else []
    return found


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may be made.

    Attributes:
        warning: what the agent should be told in the mode ``warn``.
        finding: what the guard would have objected in the mode ``refuse``, or that it could not decide.
        call: the call that was decided about and is to be made: with the defaults of arguments that were left out.
    """

    warning: str | None = None
    finding: Finding | None = None
    call: Call | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call must not be made.

    Attributes:
        finding: the rules, their provisions, and what to do first.
    """

    finding: Finding

    @property
    def reason(self) -> str:
        """One or two sentences for the agent."""
        return f"Not carried out. {self.finding.reason}"

    @property
    def provisions(self) -> tuple[str, ...]:
        return self.finding.provisions

    @property
    def first(self) -> tuple[Step, ...]:
        return self.finding.first


Decision = Allow | Refuse


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A call that a person decides about.

    Attributes:
        call: the call, with who acts.
        finding: what speaks against it.
    """

    call: Call
    finding: Finding

    def __str__(self) -> str:
        who = "" if self.call.by is None else f", by {name_actor(self.call.by)}"
        return f"May this call be made: {self.call}{who}? {self.finding.reason}"


def cite(rule: Rule, regulation: Regulation | None) -> str:
    """What a rule rests on: the citation and the first sentence of the provision, else of the rule's rationale."""
    if regulation is not None and (rule.regulation == regulation.id or not regulation.restated):
        for citation in rule.provisions:
            for provision in regulation.cited(citation)[:1]:
                return f"{rule.act} {provision.citation}: {_first_sentence(provision.words())}".strip()
    where = " ".join((rule.act, ", ".join(rule.provisions))).strip()
    sentence = _first_sentence(rule.rationale) or f"rule {rule.id!r}."
    return f"{where}: {sentence}" if where else sentence


def cite_all(rules: Iterable[Rule], regulation: Regulation | None) -> tuple[str, ...]:
    """What rules rest on, each once."""
    return tuple(dict.fromkeys(cite(rule, regulation) for rule in rules))


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[.!?;])\s+(?=[A-Z(])", " ".join(text.split()), maxsplit=1)[0]
    words = sentence.split()
    return sentence if len(words) <= MAX_WORDS else f"{' '.join(words[:MAX_WORDS])} ..."


@dataclass(frozen=True, slots=True)
class OpenDuty:
    """A duty that is not met if nothing more happens.

    Attributes:
        rule: the id of its rule.
        provisions: as in `Finding`.
        under: the readings of open questions under which there is this duty; empty if there is under all.
        values: of the variables of the rule, in each case in which it is open.
        steps: calls that meet it together with the other open duties; empty if none were found.
    """

    rule: str
    provisions: tuple[str, ...]
    values: tuple[Mapping[str, Json], ...] = ()
    steps: tuple[Step, ...] = ()
    under: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def __str__(self) -> str:
        return " ".join(part for part in (in_words(self.steps).replace(" first.", "."), *self.provisions) if part)
