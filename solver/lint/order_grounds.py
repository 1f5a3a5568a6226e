"""The grounds that a reader of provisions and documentation has for a demanded order of two tools.

Whichever of the two the rule demands, let *earlier* be the one that comes first. A ground is one of these:

- A tool: the earlier one shows a key that the later one takes; the later one records the event that the earlier one
  emits; the documentation of the later one speaks of what the earlier one is named for, or names a value that it has to
  show; a summary says that the one is called before, or after, what the other is named for.
- A cited provision sets the time that the rule has; it asks for an account of what was done (*record*, *notify*,
  *prove*), and the later tool gives one; or, where the earlier call is demanded, it says what must come first
  (*before*, *until*, *only with*, *unless*), or makes something depend on a fact (*if*, *where*) that the earlier call
  shows.

Each of them is there because curated rules rest on it; criteria that only let more reversed orders pass are not
(`python -m benchmarks.grounds`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lawtrace.environments.runtime.documentation import document_tool
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool
from lawtrace.schemas.events import Json
from lawtrace.solver.lint.demanded_orders import DemandedOrder
from lawtrace.solver.lint.quantities import quantities
from lawtrace.solver.logic.conditions import condition_fields, condition_leaves
from lawtrace.solver.logic.syntax import Atom
from lawtrace.solver.logic.terms import RESULT, LiteralValue

_ENDINGS: Final = re.compile(
    r"(?:isations?|ising|ised|ises?|ations?|ments?|ions?|ings?|ures?|ers?|ors?|ees?|ables?|ied|ies|ed|es|al|ly|s|e|y)$"
)
_BEFORE: Final = r"before|prior\s+to|in\s+advance\s+of|until"
_FIRST: Final = (
    rf"{_BEFORE}|only\s+(?:\w+\s+)?(?:if|on|with|where|after|when|for|what|as)|unless|except\s+(?:on|with|if|where|under)|without|"
    r"subject\s+to|provided\s+that|rests?\s+on|on\s+the\s+basis\s+of|depends?\s+on"
)
_FACT: Final = (
    rf"{_FIRST}|beforehand|in\s+advance|previously|earlier|first|already|if|where|as\s+far\s+as|whether|while|"
    r"as\s+long\s+as|\w*(?:authori[sz]|authentic|consent|permi(?:t|ss)|verif|identif(?!ier)|approv)\w*"
)
_ACCOUNT: Final = (
    r"(?:record|document|report|log|entr|enter|notif|notice|inform|tell|told|prove|proof|accounting|answer|repl|"
    r"communicat|announc|letter|written|in\s+writing|states\s+(?:the|its|that))\w*"
)
_SENTENCE: Final = re.compile(r"(?<=[.;:])\s+")


def order_ground(order: DemandedOrder, tools: Mapping[str, Tool], provisions: Sequence[str]) -> str | None:
    """The ground that a reader has for an order, in words; None if there is none.

    Args:
        order: whose tools are all shown, or messages.
        tools: by name.
        provisions: the texts of the provisions that the rule cites.
    """
    law = [sentence for text in provisions for sentence in _SENTENCE.split(text)]
    if order.timed and any(quantity.is_time for sentence in law for quantity in quantities(sentence)):
        return "the law sets a time"
    occasion = [atom for atom in order.occasion if atom.tool in tools]
    if not occasion or any(atom.tool not in tools for atom in order.demanded):
        return "a message is not a tool"
    before = order.direction == "before"
    for demanded in order.demanded:
        for atom in occasion:
            earlier, later = (demanded, atom) if before else (atom, demanded)
            ground = _documented(earlier, later, tools, demanded=before)
            ground = ground or _lawful(earlier, tools[later.tool], law, demanded=before)
            if ground is not None:
                return ground
    return None


def _documented(earlier: Atom, later: Atom, tools: Mapping[str, Tool], *, demanded: bool) -> str | None:
    """What the tools say. ``demanded``: the earlier call is demanded, not the later one."""
    first, second = tools[earlier.tool], tools[later.tool]
    if _gives_key(first, second):
        return f"{first.name} shows what {second.name} takes"
    if _records_event(later, second, first):
        return f"{second.name} records the event of {first.name}"
    for tool, marker, other in ((first, _BEFORE, second), (second, "after|once", first)):
        for sentence in _SENTENCE.split(tool.summary):
            found = re.search(rf"\b(?:{marker})\b(.*)", sentence, re.IGNORECASE)
            if found and _stems(_words(found[1])) & _stems(_name_words(other)) - _stems(_name_words(tool)):
                return sentence
    if demanded and _named_for(first, second) & _stems(_words(_prose(second))):
        return f"the documentation of {second.name} speaks of it"
    if demanded and _reads_result(earlier) and set(_texts(earlier)) & set(re.findall(r"'([^']+)'", _prose(second))):
        return f"the documentation of {second.name} names what {first.name} shows"
    return None


def _lawful(earlier: Atom, later: Tool, law: Sequence[str], *, demanded: bool) -> str | None:
    """The sentence of the law that asks for the order."""
    account = later.effects and _has(" ".join((*_name_words(later), later.summary)), _ACCOUNT)
    marker = _FACT if _reads_result(earlier) else _FIRST
    return next(
        (
            sentence
            for sentence in law
            if (account and _has(sentence, _ACCOUNT)) or (demanded and _has(sentence, marker))
        ),
        None,
    )


def _has(sentence: str, marker: str) -> bool:
    return re.search(rf"\b(?:{marker})\b", sentence, re.IGNORECASE) is not None


def _gives_key(earlier: Tool, later: Tool) -> bool:
    """Whether the first tool shows keys that the second takes."""
    shown = {result.entity.table for result in earlier.revealing_results}
    taken = {p.source.entity.table for p in later.parameters if isinstance(p.source, FromLookup)}
    return bool(shown & taken)


def _records_event(atom: Atom, recorder: Tool, tool: Tool) -> bool:
    """Whether the call records the event of the tool: by its name, or any that are pending."""
    if tool.emits is None:
        return False
    takes_events = any(
        isinstance(p.source, FromTrace) and p.source.function is pending_events for p in recorder.parameters
    )
    return tool.emits in _texts(atom) or (takes_events and atom.condition is None)


def _named_for(tool: Tool, other: Tool) -> frozenset[str]:
    """What the name of a tool says and neither the name nor the parameters of the other one."""
    taken = (word for parameter in other.parameters for word in _words(parameter.name.replace("_", " ")))
    return _stems(_name_words(tool)) - _stems((*_name_words(other), *taken))


def _reads_result(atom: Atom) -> bool:
    return atom.condition is not None and any(f.path[0] == RESULT for f in condition_fields(atom.condition))


def _texts(atom: Atom) -> list[str]:
    leaves = () if atom.condition is None else condition_leaves(atom.condition)
    return [leaf.content for leaf in leaves if isinstance(leaf, LiteralValue) and isinstance(leaf.content, str)]


def _prose(tool: Tool) -> str:
    """All that the documentation of a tool says."""
    return " ".join(texts_in(document_tool(tool)))


def texts_in(documented: Json) -> Iterator[str]:
    """The texts of a JSON value, without the names of fields."""
    match documented:
        case str():
            yield documented
        case list():
            for item in documented:
                yield from texts_in(item)
        case dict():
            for item in documented.values():
                yield from texts_in(item)
        case _:
            pass


def _name_words(tool: Tool) -> list[str]:
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.name)


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", text)


def _stems(words: Iterable[str]) -> frozenset[str]:
    """Words of three letters or more without their endings, in British spelling."""
    found: set[str] = set()
    for word in map(str.lower, words):
        british = re.sub(r"(?<=[iy])z(?=[aei])", "s", word)
        shorter = _ENDINGS.sub("", british)
        if len(word) >= 3:
            found.add(shorter if len(shorter) >= 3 else british)
    return frozenset(found)
