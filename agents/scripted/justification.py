"""What a sentence of a provision demands of tools, as formulas, each part with the words that justify it.

    sentence -> duty (pattern, phrases) -> calls of tools -> formulas -> check

The offline extractor proposes these formulas and no others, and the offline critic objects to rules that are not among
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawtrace.agents.scripted.deontic_patterns import Duty, NotUnderstood, Tokens, duties_of, text_of
from lawtrace.agents.scripted.tool_phrases import NamedCall, NamedCalls, NoTool, ToolLexicon
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.rule_transforms import same_rule
from lawtrace.solver.rules import Rule


class Ground(StrictModel):
    """The words of a provision that justify one part of a rule: the order, an event, a period, a condition."""

    part: str
    words: str
    because: str


@dataclass(frozen=True, slots=True)
class JustifiedRule:
    """A formula that a sentence demands.

    Attributes:
        first, second: the calls; *never* has no second.
        grounds: which words justify which part.
    """

    sentence: str
    id: str
    formula: str
    first: tuple[NamedCall, ...]
    second: tuple[NamedCall, ...]
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """A sentence that is understood, with its rules."""

    sentence: str
    duty: Duty
    rules: tuple[JustifiedRule, ...]


def understand(text: str, tools: Sequence[Mapping[str, Any]]) -> list[Understood | NotUnderstood]:
    """What each sentence of a provision demands of these tools; sentences that oblige to nothing are left out."""
    lexicon = ToolLexicon(tools)
    return [justify(duty, lexicon) for duty in duties_of(text)]


def justify(duty: Duty | NotUnderstood, lexicon: ToolLexicon) -> Understood | NotUnderstood:
    """The formulas of a duty over the tools, or the part of it that names none."""
    if isinstance(duty, NotUnderstood):
        return duty
    try:
        return Understood(duty.sentence, duty, tuple(_rules(duty, lexicon)))
    except NoTool as reason:
        return NotUnderstood(duty.sentence, str(reason))


def _rules(duty: Duty, lexicon: ToolLexicon) -> Iterator[JustifiedRule]:
    first = lexicon.calls(duty.first, state=duty.state, state_first=duty.state_first)
    if duty.condition:
        first = lexicon.limited(duty.condition, first, allowed=duty.allowed)
    if duty.kind != "before":
        _check_joined(duty.first, first)
    if duty.kind == "never":
        for call in first.calls:
            yield _rule(duty, f"G(!{call.atom})", (call,), ())
        return
    second = lexicon.calls(duty.second)
    if duty.kind == "never after":
        _check_joined(duty.second, second)
    if not duty.one_suffices and len(first.calls) > 1 and first.joined == "or":
        raise NoTool(f"{duty.order!r} with an 'or' does not say whether one of {text_of(duty.first)!r} is enough")
    both = {call.tool for call in first.calls} & {call.tool for call in second.calls}
    if both:
        raise NoTool(f"both parts name {sorted(both)[0]}")
    window = f"[{duty.window.bound}]" if duty.window else ""
    # Several duties joined by *or* are met by any of them; otherwise each pair is a rule of its own.
    demanded, others = (first, second) if duty.kind == "before" else (second, first)
    for group in _groups(demanded, together=duty.kind != "never after"):
        atoms = " | ".join(call.atom for call in group)
        atoms = f"({atoms})" if len(group) > 1 else atoms
        for other in others.calls:
            match duty.kind, window:
                case "before", "":
                    yield _rule(duty, f"!((!{atoms}) U {other.atom})", group, (other,))
                case "before", _:
                    yield _rule(duty, f"G({other.atom} -> O{window} {atoms})", group, (other,))
                case "after", _:
                    yield _rule(duty, f"G({other.atom} -> F{window} {atoms})", (other,), group)
                case _:
                    yield _rule(duty, f"G({other.atom} -> G{window} !{atoms})", (other,), group)


def _check_joined(phrase: Tokens, calls: NamedCalls) -> None:
    """Raises NoTool for *A and B*, which may mean both together; *every A and every B* means each."""
    if len(calls.calls) > 1 and calls.joined == "and" and phrase[0].low not in {"every", "each", "any", "all"}:
        raise NoTool(f"{text_of(phrase)!r} does not say whether it means each by itself or both together")


def _groups(calls: NamedCalls, *, together: bool) -> list[tuple[NamedCall, ...]]:
    if together and calls.joined == "or":
        return [calls.calls]
    return [(call,) for call in calls.calls]


def _rule(duty: Duty, formula: str, first: tuple[NamedCall, ...], second: tuple[NamedCall, ...]) -> JustifiedRule:
    meaning = {
        "before": "the first event must have happened before the second",
        "after": "the second event must follow the first",
        "never": "the event is forbidden",
        "never after": "the second event is forbidden after the first",
    }[duty.kind]
    grounds = [Ground(part="order", words=duty.order, because=meaning)]
    for part, calls in (("first", first), ("second", second)):
        grounds += [Ground(part=part, words=call.words, because=f"{call.atom}. {call.because}") for call in calls]
    if duty.window is not None:
        grounds.append(Ground(part="period", words=duty.window.words, because=f"[{duty.window.bound}]"))
    if duty.condition:
        grounds.append(Ground(part="condition", words=text_of(duty.condition), because=first[0].atom))
    names = ["-".join(call.tool for call in calls) for calls in (first, second)]
    id_ = {
        "before": f"{names[0]}-before-{names[1]}",
        "after": f"{names[1]}-after-{names[0]}",
        "never": f"never-{names[0]}",
        "never after": f"no-{names[1]}-after-{names[0]}",
    }[duty.kind].lower()
    return JustifiedRule(duty.sentence, id_, formula, first, second, tuple(grounds))


def find_objection(formula: str, text: str, tools: Sequence[Mapping[str, Any]]) -> str | None:
    """Why the provision does not justify the formula; None if it does, or if the baseline cannot tell.

    A provision that is understood justifies its own rules and no others. Of one that is not, the order and the phrases
    that are read must not contradict the rule.
    """
    rule = Rule(id="proposed", formula=formula)
    try:
        template = match_template(rule.parsed)
        _ = rule.compiled
    except InputError:
        return None
    lexicon = ToolLexicon(tools)
    duties = list(duties_of(text))
    read = [justify(duty, lexicon) for duty in duties]
    demanded = [one for sentence in read if isinstance(sentence, Understood) for one in sentence.rules]
    if any(same_rule(rule, Rule(id="demanded", formula=one.formula)) for one in demanded):
        return None
    unread = [duty for duty, one in zip(duties, read, strict=True) if isinstance(one, NotUnderstood)]
    if demanded and not unread:
        asked = "; ".join(
            f"{one.formula} ({', '.join(f'{g.part}: {g.words!r}' for g in one.grounds)})" for one in demanded
        )
        return f"the provision demands another rule: {asked}"
    contradictions = [_contradiction(template, duty, lexicon) for duty in unread if isinstance(duty, Duty)]
    if contradictions and len(contradictions) == len(read) and all(contradictions):
        return contradictions[0]
    return None


def _contradiction(
    template: OperationalRestriction | InstructionAdherence | None, duty: Duty, lexicon: ToolLexicon
) -> str | None:
    """Why a template rule contradicts a duty of which the order is read, but not every phrase."""
    match template:
        case OperationalRestriction(first, second):
            order = "before"
        case InstructionAdherence(first, second):
            order = "after"
        case None:
            return None
    sides = [[atom.tool for atom in atoms_of([side])] for side in (first, second)]
    if duty.kind in {"never", "never after"}:
        return None
    phrases = (duty.first, duty.second)
    for phrase, tools in zip(phrases, sides, strict=True):
        try:
            named = {call.tool for call in lexicon.calls(phrase).calls}
        except NoTool:
            continue
        if duty.kind == order and not named & set(tools):
            return f"{text_of(phrase)!r} names {', '.join(sorted(named))}, not {', '.join(tools)}"
    straight, crossed = (
        sum(lexicon.support(phrase, tool) for phrase, tools in zip(phrases, turned, strict=True) for tool in tools)
        for turned in (sides, sides[::-1])
    )
    if duty.kind == order and crossed > straight:
        return f"it reverses the order: {text_of(duty.first)!r} comes first in the provision"
    return None
