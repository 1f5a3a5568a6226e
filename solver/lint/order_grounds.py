"""The grounds that a reader of provisions and documentation has for a demanded order of two tools.

A ground for *A before B* is one of these. Words are compared by their stems; those of both tools do not count.

- The documentation: A shows a key that B takes; B records the event that A emits; B's documentation speaks of what A is
  named for, or names a value that A shows; a summary says which comes first.
- A cited provision: it says what comes first (*before*, *until*, *in advance*), unless the words of A and B stand the
  other way round; it makes something depend on A (*only with*, *unless*, *without*); it speaks of permission, and so
  does A; it makes something depend on a fact (*if*, *where*, *as far as*) that A shows; it asks for an account of what
  was done (*record*, *notify*, *prove*), and B gives one.

A ground for *A after B* is one of these: B shows a key that A takes; A records the event that B emits; a summary says
so; a cited provision says what comes later (*after*, *within*, *without delay*), asks for an account, which A gives, or
sets the time that the rule has.
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

_STOP: Final = re.compile(
    r"(?:a|an|and|are|as|at|be|by|can|for|from|has|have|if|in|into|is|it|its|must|may|no|none|not|of|on|one|or|other|"
    r"out|that|the|them|they|this|those|to|under|up|was|were|what|when|where|which|who|whose|will|with)"
)
_ENDINGS: Final = re.compile(
    r"(?:isations?|ising|ised|ises?|ations?|ments?|ions?|ings?|ures?|ers?|ors?|ees?|ables?|ied|ies|ed|es|al|ly|s|e|y)$"
)
_BEFORE: Final = r"before|prior\s+to|in\s+advance\s+of|until"
_EARLIER: Final = r"beforehand|in\s+advance|previously|earlier|first|already"
_ONLY: Final = (
    r"only\s+(?:if|on|with|where|after|when|for|what|as)|unless|except\s+(?:on|with|if|where|under)|without|"
    r"subject\s+to|provided\s+that|rests?\s+on|on\s+the\s+basis\s+of|depends?\s+on"
)
_PERMISSION: Final = r"\w*(?:authori[sz]|authentic|consent|permi(?:t|ss)|verif|identif(?!ier)|approv)\w*"
_DEPENDS: Final = rf"{_BEFORE}|{_EARLIER}|{_ONLY}|{_PERMISSION}|if|where|as\s+far\s+as|whether|while|as\s+long\s+as"
_AFTER: Final = r"after|within|upon|once|following|as\s+soon\s+as"
_LATER: Final = r"afterwards|immediately|at\s+once|without\s+(?:undue\s+|unreasonable\s+)?delay|subsequently|later|then"
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
    occasion = [tools[atom.tool] for atom in order.occasion if atom.tool in tools]
    law = [sentence for text in provisions for sentence in _SENTENCE.split(text)]
    if order.timed and any(quantity.is_time for sentence in law for quantity in quantities(sentence)):
        return "the law sets a time"
    for atom in order.demanded:
        tool = tools.get(atom.tool)
        pair = _Pair(atom, tool, occasion) if tool and occasion else None
        if pair is None:
            return "a message is not a tool"
        ground = pair.before(order.occasion, provisions) if order.direction == "before" else pair.after(provisions)
        if ground is not None:
            return ground
    return None


class _Pair:
    """A tool that an order demands, with the tools of the occasion."""

    def __init__(self, atom: Atom, tool: Tool, occasion: Sequence[Tool]) -> None:
        self.atom, self.tool, self.occasion = atom, tool, occasion
        own, others = vocabulary(tool), _union(map(vocabulary, occasion))
        self.own, self.others = own - others, others - own

    def before(self, occasion: Sequence[Atom], provisions: Sequence[str]) -> str | None:
        for atom, later in zip(occasion, self.occasion, strict=False):
            if _gives_key(self.tool, later):
                return f"{self.tool.name} shows what {later.name} takes"
            if _records_event(atom, later, self.tool):
                return f"{later.name} records the event of {self.tool.name}"
            if self._matter(later) & stems(_words(_prose(later))):
                return f"the documentation of {later.name} speaks of it"
            if self._shown_values() & _named_values(later):
                return f"the documentation of {later.name} names what {self.tool.name} shows"
        for sentence in self._documented():
            if self._says_before(sentence, 1):
                return sentence
        for sentence, context in _sentences(provisions):
            if _free(sentence, _EARLIER) or self._says_before(sentence, 0):
                return sentence
            if _governed(sentence, context, _ONLY) & self.own:
                return sentence
            allowed = "permission" in stems(_words(sentence))
            if allowed and "permission" in self.own:
                return sentence
            by_others = allowed and "permission" in self.others
            if not by_others and _free(sentence, _DEPENDS) and (_reads_result(self.atom) or self._shows(sentence)):
                return sentence
            if _free(sentence, _ACCOUNT) and any(map(_is_account, self.occasion)):
                return sentence
        return None

    def after(self, provisions: Sequence[str]) -> str | None:
        for earlier in self.occasion:
            if _gives_key(earlier, self.tool):
                return f"{earlier.name} shows what {self.tool.name} takes"
            if _records_event(self.atom, self.tool, earlier):
                return f"{self.tool.name} records the event of {earlier.name}"
        for sentence in self._documented():
            if self._says_after(sentence, 1):
                return sentence
        for sentence, _ in _sentences(provisions):
            acts = bool(self.tool.effects)
            if (acts and _free(sentence, _LATER)) or self._says_after(sentence, 0 if acts else 1):
                return sentence
            if _free(sentence, _ACCOUNT) and _is_account(self.tool):
                return sentence
        return None

    def _says_before(self, sentence: str, least: int) -> bool:
        return _roles_fit(sentence, _BEFORE, inside=self.others, outside=self.own, least=least) or _roles_fit(
            sentence, _AFTER, inside=self.own, outside=self.others, least=1
        )

    def _says_after(self, sentence: str, least: int) -> bool:
        return _roles_fit(sentence, _AFTER, inside=self.others, outside=self.own, least=least) or _roles_fit(
            sentence, _BEFORE, inside=self.own, outside=self.others, least=1
        )

    def _documented(self) -> Iterator[str]:
        for tool in (self.tool, *self.occasion):
            yield from _SENTENCE.split(tool.summary)

    def _matter(self, later: Tool) -> frozenset[str]:
        """What the name of the demanded tool says and neither the name nor the parameters of the later one."""
        taken = (word for parameter in later.parameters for word in _words(parameter.name.replace("_", " ")))
        return stems(_name_words(self.tool)) - stems((*_name_words(later), *taken))

    def _shown_values(self) -> frozenset[str]:
        return frozenset(_texts(self.atom)) if _reads_result(self.atom) else frozenset()

    def _shows(self, sentence: str) -> bool:
        """Whether a look-up shows what the sentence speaks of, and the later tools do not."""
        if self.tool.effects:
            return False
        shown = stems(_words(_prose(self.tool))) - _union(stems(_words(_prose(tool))) for tool in self.occasion)
        return bool(shown & stems(_words(sentence)))


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _sentences(provisions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each sentence, with the rest of its provision."""
    for text in provisions:
        sentences = _SENTENCE.split(text)
        for number, sentence in enumerate(sentences):
            yield sentence, " ".join(sentences[:number])


def _free(sentence: str, marker: str) -> bool:
    return re.search(rf"\b(?:{marker})\b", sentence, re.IGNORECASE) is not None


def _roles_fit(sentence: str, marker: str, *, inside: frozenset[str], outside: frozenset[str], least: int) -> bool:
    """Whether a marker stands in the sentence, and the words of the two tools do not stand the other way round."""
    for found in re.finditer(rf"\b(?:{marker})\b", sentence, re.IGNORECASE):
        scope, rest = _scope(sentence, found)
        fitting = len(stems(scope) & inside) + len(stems(rest) & outside)
        if fitting >= max(least, len(stems(scope) & outside) + len(stems(rest) & inside)):
            return True
    return False


def _governed(sentence: str, context: str, marker: str) -> frozenset[str]:
    """The words that markers govern; a pronoun stands for the sentences before."""
    words: list[str] = []
    for found in re.finditer(rf"\b(?:{marker})\b", sentence, re.IGNORECASE):
        scope, _ = _scope(sentence, found)
        words += _words(context) if scope in (["it"], ["this"], ["that"], ["them"]) else scope
    return stems(words)


def _scope(sentence: str, marker: re.Match[str]) -> tuple[list[str], list[str]]:
    """The words of the clause after a marker, and the other words of the sentence."""
    after = sentence[marker.end() :]
    leading = not sentence[: marker.start()].strip()
    stop = re.search(
        r"[,.;:()]|$" if leading else r"[.;:()]|,\s+(?:and|but|so|unless|which|where|if|that|who)\b|$", after
    )
    end = stop.start() if stop else len(after)
    return _words(after[:end]), _words(sentence[: marker.start()] + after[end:])


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


def _is_account(tool: Tool) -> bool:
    """Whether the tool gives an account of something, which can only follow it."""
    return bool(tool.effects) and _free(" ".join((*_name_words(tool), tool.summary)), _ACCOUNT)


def _reads_result(atom: Atom) -> bool:
    return atom.condition is not None and any(f.path[0] == RESULT for f in condition_fields(atom.condition))


def _texts(atom: Atom) -> list[str]:
    leaves = () if atom.condition is None else condition_leaves(atom.condition)
    return [leaf.content for leaf in leaves if isinstance(leaf, LiteralValue) and isinstance(leaf.content, str)]


def _named_values(tool: Tool) -> frozenset[str]:
    return frozenset(re.findall(r"'([^']+)'", _prose(tool)))


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


def vocabulary(tool: Tool) -> frozenset[str]:
    """The stems of the words of a tool's name and summary."""
    return stems((*_name_words(tool), *_words(tool.summary)))


def _name_words(tool: Tool) -> list[str]:
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.name)


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", text)


def stems(words: Iterable[str]) -> frozenset[str]:
    """Words without their endings, in British spelling, without stop words; one stem for all words of permission."""
    found: set[str] = set()
    for word in map(str.lower, words):
        if re.fullmatch(_PERMISSION, word):
            found.add("permission")
        elif len(word) >= 3 and not _STOP.fullmatch(word):
            british = re.sub(r"(?<=[iy])z(?=[aei])", "s", word)
            shorter = _ENDINGS.sub("", british)
            found.add(shorter if len(shorter) >= 3 else british)
    return frozenset(found)
