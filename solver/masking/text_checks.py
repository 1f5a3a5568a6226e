"""Checks by code of a text that a model wrote freely: complete, unambiguous, free of leaks, and natural.

A value counts as said if the text has it in a usual spelling (`surface_forms`), or if the writer notes which words say
it. A name of a row is good if the look-up finds exactly that row by it, on every side of a contrast pair.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lawtrace.environments.spec.tools import PhrasesByArgument
from lawtrace.environments.spec.types import TEXT, Choice
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json, scalars
from lawtrace.schemas.instructions import SurfaceForms, noted_forms
from lawtrace.solver.masking.instructions import find_leaks
from lawtrace.solver.masking.requests import AskedRequest, FoundRow
from lawtrace.solver.masking.surface_forms import Span, other_values, overlaps, phrase_spans, plain, value_spans
from lawtrace.solver.masking.wording import format_value

TextCheck = Literal["complete", "unambiguous", "leak-free", "natural"]

_LOOKING = re.compile(
    r"\b(?:find|look|search|pull|locate|check|fetch|get|open|go to|go into|dig|bring up|call up|track down|see which|"
    r"identify|select|pick|take)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:first|then|next|after|afterwards|finally|lastly|once|before|second(?:ly)?|when|now|from there|start|begin|"
    r"followed|having (?:done|found|made|sent|seen|got|\w+ed)|following that|last of all|in the end|at the end|"
    r"with (?:that|this|it|those|both) (?:done|through|settled|sorted|finished)|to (?:finish|round off))\b"
    r"|(?:^|\n)\s*(?:\d+[.)]|[-*])\s|;|\n\s*\n",
    re.IGNORECASE,
)
_SYMBOLS = re.compile(r"[!=<>]=|=>|->|&&|\|\||:=|[{}`]|\[\"|(?<=\w)\(\)|\b(?:true|false|null)\b|\w+_\w+")
_EMPTY = frozenset(("the", "my", "our", "her", "his", "of", "for", "to", "at", "in", "on", "and", "by", "from", "with"))


@dataclass(frozen=True, slots=True)
class TextFinding:
    """A defect of a text. ``words``: those of the text that it is about; empty where something is missing."""

    check: TextCheck
    detail: str
    words: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.detail}"


@dataclass(slots=True)
class CheckedText:
    """The findings on a text.

    Attributes:
        said: the values that it says, as a user writes them.
        outline: the text without its values, to compare it with others.
    """

    findings: list[TextFinding] = field(default_factory=list[TextFinding])
    said: list[str] = field(default_factory=list[str])
    outline: str = ""


def check_text(request: AskedRequest, style: Style, text: str, says: SurfaceForms) -> CheckedText:
    """Check one text of a request by itself."""
    return _Check(request, style, plain(text), says).run()


class _Check:
    def __init__(self, request: AskedRequest, style: Style, text: str, says: SurfaceForms) -> None:
        self._request = request
        self._style: Style = style
        self._text = text
        self._says = says
        self._numbers = request.numbers(style)
        self._accounted: list[Span] = []
        self._result = CheckedText()

    def run(self) -> CheckedText:
        if not self._text.strip():
            self._find("complete", "no text yet")
            return self._result
        for number in self._numbers:
            self._read_call(number)
        self._look_for_other_values()
        self._look_for_leaks()
        self._look_for_symbols()
        self._look_at_form()
        self._result.findings = list(dict.fromkeys(self._result.findings))
        self._result.outline = _outline(self._text, self._accounted)
        return self._result

    def _find(self, check: TextCheck, detail: str, words: str = "") -> None:
        self._result.findings.append(TextFinding(check, detail, words))

    def _read_call(self, number: int) -> None:
        """Look for the values of a call, and for a look-up whether they single out the row."""
        call, names, missing = self._request.calls[number], dict[str, Json](), False
        for name in call.said:
            if call.event.arguments[name] is None:
                continue
            words = self._said(number, name)
            missing |= words is None
            if words is not None and words != call.event.arguments[name]:
                names[name] = words
        if not missing and self._request.is_lookup(number):
            self._check_found(number, names)

    def _said(self, number: int, name: str) -> Json:
        """What the text says for the argument: its value, or other words that a look-up takes; None if nothing."""
        tool, value = self._request.tool(number), self._request.calls[number].event.arguments[name]
        value_type = tool.parameter(name).type
        noted = self._noted(number, name)
        spans = value_spans(self._text, value, value_type)
        if spans:
            self._account(spans, value, format_value(value, value_type))
            return value
        if noted:
            self._account(noted, value, format_value(value, value_type))
            return self._text[slice(*noted[0])] if value_type is TEXT and self._request.is_lookup(number) else value
        if value is False or (isinstance(value, bool) and self._is_phrased(number, name)):
            return value
        if isinstance(tool.phrases, PhrasesByArgument) and tool.phrases.parameter == name and self._is_worded(number):
            self._account((), value, str(value))
            return value
        if value_type is TEXT and self._request.is_lookup(number):
            return self._part(number, name, str(value))
        self._missing(number, name, self._hint(value_type, value))
        return None

    def _noted(self, number: int, name: str) -> list[Span]:
        """Where the text has the words that are noted for the argument."""
        spans: list[Span] = []
        for words in noted_forms(self._says, number, self._request.tool(number).name, name):
            spans += phrase_spans(self._text, plain(words))
        return spans

    def _account(self, spans: Sequence[Span], value: Json, words: str) -> None:
        self._accounted += spans
        self._result.said += [words, *map(str, scalars(value))]

    def _unaccounted(self, spans: Sequence[Span]) -> list[str]:
        """The words at the spans that no value accounts for."""
        return [self._text[slice(*span)] for span in spans if not overlaps(span, self._accounted)]

    def _has_one_of(self, words: Iterable[str]) -> bool:
        return any(phrase_spans(self._text, word, inflected=True) for word in words)

    def _is_phrased(self, number: int, name: str) -> bool:
        """Whether the text has words that the declared phrases use where the flag is true."""
        phrases = self._request.tool(number).phrases
        texts = phrases.of(self._request.calls[number].event.arguments).texts if phrases else ()
        optional = re.findall(rf"\[{name}:([^\]]*)\]", " ".join(texts))
        words = [word for phrase in optional for word in re.findall(r"[a-z]{4,}", phrase)]
        return self._has_one_of([*words, name.replace("_", " ")])

    def _is_worded(self, number: int) -> bool:
        """Whether the text has a word that only the phrases for this value have."""
        phrases, arguments = self._request.tool(number).phrases, self._request.calls[number].event.arguments
        assert isinstance(phrases, PhrasesByArgument)
        own = phrases.of(arguments)
        others = " ".join(text for other in phrases.cases.values() if other is not own for text in other.texts).lower()
        words = {word for text in own.texts for word in re.findall(r"(?<!\{)\b[a-z-]{4,}\b(?!\})", text.lower())}
        return self._has_one_of(word for word in words if word not in others)

    def _part(self, number: int, name: str, value: str) -> Json:
        """The longest part of a name in the text by which the look-up finds just the row that the name finds."""
        words, lookups = value.split(), self._request.tool(number).lookups
        nouns = {noun for one in lookups for noun in (one.entity.singular, one.entity.table)}
        parts = [words[start : start + size] for size in range(len(words) - 1, 0, -1) for start in range(len(words))]
        ambiguous: tuple[str, list[FoundRow]] | None = None
        for part in parts:
            if all(word.lower() in _EMPTY | nouns or len(word) < 3 for word in part):
                continue
            phrase = " ".join(part).strip(",.;")
            spans = phrase_spans(self._text, phrase)
            if not spans:
                continue
            found, wanted = [*self._request.found_rows(number, {name: phrase})], self._request.wanted_rows(number)
            most = max(found, key=len)
            if len(most) == 1 and all([str(row.key) for row in rows] == wanted for rows in found):
                self._account(spans, value, value)
                return phrase
            if len(most) > 1:
                ambiguous = ambiguous or (phrase, most)
        if ambiguous is not None:
            self._ambiguous(*ambiguous)
        else:
            hint = f"write {value!r}, or a part by which {self._request.tool(number).name} finds it"
            self._missing(number, name, hint)
        return None

    def _check_found(self, number: int, names: Mapping[str, Json]) -> None:
        """The look-up with the words of the text must show the wanted rows and no other that the text may mean."""
        wanted, tool = self._request.wanted_rows(number), self._request.tool(number)
        call, noun = self._request.calls[number], tool.lookups[0].entity.singular
        for rows in self._request.found_rows(number, names):
            if not {*wanted} <= {str(row.key) for row in rows}:
                words = ", ".join(map(repr, names.values()))
                self._find("complete", f"{tool.name} does not find the {noun} by {words}", words)
                return
            if len(rows) > len(wanted) and len(meant := self._meant(number, rows)) > len(wanted):
                self._ambiguous(", ".join(str(call.event.arguments[name]) for name in call.said) or noun, meant)
                return

    def _meant(self, number: int, rows: Sequence[FoundRow]) -> list[FoundRow]:
        """The rows of which the text says most fields."""
        lookups = self._request.tool(number).lookups
        types = {name: field.type for found in lookups for name, field in found.entity.fields.items()}

        def said(row: FoundRow) -> int:
            known = ((value, types[name]) for name, value in row.fields.items() if name in types)
            return sum(bool(value_spans(self._text, *one)) for one in known)

        most = max(map(said, rows))
        return [row for row in rows if said(row) == most]

    def _missing(self, number: int, name: str, hint: str) -> None:
        tool, value = self._request.tool(number), self._request.calls[number].event.arguments[name]
        words = format_value(value, tool.parameter(name).type)
        self._find("complete", f"it does not say {number + 1}.{tool.name}.{name} = {words!r}; {hint}")

    @staticmethod
    def _hint(value_type: object, value: Json) -> str:
        if isinstance(value_type, Choice) or isinstance(value, bool):
            return "name it, or note in says which words do"
        return "write the value" if value_type is TEXT else "write the value, or note in says which words mean it"

    def _ambiguous(self, words: str, rows: Sequence[FoundRow]) -> None:
        both = " or ".join(map(str, rows[:2]))
        more = f" or {len(rows) - 2} more" if len(rows) > 2 else ""
        self._find("unambiguous", f"{words!r} can be {both}{more}; say more", words)

    def _look_for_other_values(self) -> None:
        """Two values that both fit a parameter."""
        for number in self._numbers:
            tool = self._request.tool(number)
            for name in self._request.calls[number].said:
                value_type = tool.parameter(name).type
                others = other_values(self._text, value_type, self._accounted)
                if value_type is TEXT and self._request.is_lookup(number):
                    named = self._request.names_of(number, name)
                    others = self._unaccounted([span for one in named for span in phrase_spans(self._text, one)])
                for other in dict.fromkeys(others):
                    said = format_value(self._request.calls[number].event.arguments[name], value_type)
                    self._find("unambiguous", f"{other!r} would fit {tool.name}.{name}, too, which is {said!r}", other)

    def _look_for_leaks(self) -> None:
        for leak in find_leaks(self._request.environment, self._text):
            self._find("leak-free", f"{leak!r} hints at a hidden step", leak)
        for phrase in self._request.hidden_options:
            for words in self._unaccounted(phrase_spans(self._text, phrase)):
                self._find("leak-free", f"{phrase!r} is an option of a hidden step", words)
        secret = self._request.secret
        if secret is None:
            return
        for phrase in self._request.secret_phrases:
            for words in self._unaccounted(phrase_spans(self._text, phrase, inflected=" " not in phrase)):
                self._find("leak-free", f"{words!r} is about the fact of the pair: {secret.name}", words)
        for value in filter(_is_figure, secret.values):
            for words in self._unaccounted(value_spans(self._text, value, secret.type)):
                self._find("leak-free", f"{words!r} is a value of the fact of the pair: {secret.name}", words)

    def _look_for_symbols(self) -> None:
        """Words of the interface: tools, parameters, options as identifiers, keys, operators."""
        for name in self._request.environment.tools:
            if re.search(r"[a-z][A-Z]", name) and re.search(rf"\b{name}\b", self._text):
                self._find("natural", f"people do not say {name!r}", name)
        for words in self._unaccounted([match.span() for match in _SYMBOLS.finditer(self._text)]):
            self._find("natural", f"people do not write {words!r}", words)
        parameters = (parameter for number in self._numbers for parameter in self._request.tool(number).parameters)
        options = {
            one for parameter in parameters if isinstance(parameter.type, Choice) for one in parameter.type.options
        }
        for match in re.finditer(r"[\"'](\w[^\"'\n]*)[\"']", self._text):
            if match[1].lower() in options:
                detail = f"{match[0]} is an option of the interface; say it in words of the request"
                self._find("natural", detail, match[0])
        for key, noun in self._request.keys.items():
            for span in phrase_spans(self._text, key):
                lead = self._text[: span[0]].rstrip(" #(:")
                if not re.search(rf"\b{noun}(?:\s+(?:number|no\.?|id|file))?$", lead, re.IGNORECASE):
                    self._find("natural", f"people do not know {key!r}; name the {noun}", key)

    def _look_at_form(self) -> None:
        if self._style == "goal":
            if re.search(r"(?:^|\n)\s*\d+[.)]\s", self._text):
                self._find("natural", "a goal has no numbered steps; say what is to be so in the end")
            return
        if len(self._numbers) > 1 and not _ORDER.search(self._text):
            self._find("unambiguous", "a workflow gives its steps in order: first, then, after that, or a list")
        if any(self._request.is_lookup(number) for number in self._numbers) and not _LOOKING.search(self._text):
            self._find("unambiguous", "a workflow says what to look up, too: find, look up, pull up")


def _is_figure(value: Json) -> bool:
    """Whether a value stands out in a text: an amount, a date, a number from 10."""
    if isinstance(value, int):
        return value >= 10 and not isinstance(value, bool)
    return isinstance(value, float) or bool(re.match(r"\d{4}-\d{2}-\d{2}", str(value)))


def _outline(text: str, spans: Sequence[Span]) -> str:
    """The text in lower case without the values at the spans, without other digits and punctuation."""
    kept = [*text]
    for start, end in spans:
        kept[start:end] = " # ".ljust(end - start)[: end - start] if end - start > 2 else "#" * (end - start)
    words = re.findall(r"[a-z]+|#", re.sub(r"\d+(?:[.,:]\d+)*", " # ", "".join(kept).lower()))
    return " ".join(word for word, after in pairwise([*words, ""]) if word != "#" or after != "#")
