"""Whether a reader can know the constants of a rule.

    for missing in find_ungrounded(environment, regulation, rules):
        print(missing.sentence)

The reader is a model under test: it has the provisions (their texts, not the `reading`) and the documentation of the
tools without hints. A constant of a rule is *ungrounded* if it stands neither in a cited provision, nor in another
paragraph of the same article or point of the same list, nor in the documentation of a tool that the rule names. A rule
under a reading may take it from the owner's manual, too, which is shown beside the law.

Numbers are compared by value, in digits or words: *five minutes* says 300 s and *50 cents* 0.50. True, false, zero and
one need no ground, nor does what a user's message says, which is not the reader's choice.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.runtime.documentation import document_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Tool
from lawtrace.schemas.events import scalars
from lawtrace.solver.logic.conditions import condition_leaves
from lawtrace.solver.logic.syntax import Atom, Compare, Formula, subformulas, windows_of
from lawtrace.solver.logic.terms import LiteralList, LiteralValue, SpanLiteral, Term
from lawtrace.solver.logic.windows import SECONDS, Span, Window
from lawtrace.solver.masking.surface_forms import date_spans, numbers_in, says
from lawtrace.solver.rules import Rule

_REFERENCE: Final = re.compile(
    r"(?:\b|(?=§))(?:articles?|sections?|§+|paragraphs?|points?|parts?|annex|chapters?|titles?|regulation|cfr)"
    r"\s*[\w.]*\d[\w.]*(?:\(\w+\))*(?:\s*(?:to|and|or|–|-)\s*\d[\w.]*(?:\(\w+\))*)*|\(\w{1,4}\)",
    re.IGNORECASE,
)
"""References: *Articles 15 to 22*, *§ 164.312(a)*, *paragraph 5*, *(b)*."""
_COMPOUND: Final = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}\b)|(?<=\d)(?=(?:h|min)\b)")
"""Between the parts of a number, or a number and its unit: *20 000*, *72h*."""


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """A constant of a rule that no text shown to the reader states.

    Attributes:
        rule: the id.
        place: where it stands in the formula.
        what: the constant.
        searched: the citations and tools whose texts were searched.
        decided: False if the rule cites nothing, or a provision that is not there to be searched; nothing is claimed.
    """

    rule: str
    place: str
    what: str
    searched: tuple[str, ...]
    decided: bool = True

    @property
    def sentence(self) -> str:
        missing = "" if self.decided else ", but the provisions that it rests on are not there to be searched"
        return f"{self.what} in `{self.place}` stands in no text that a model under test reads{missing}"

    @property
    def searched_text(self) -> str:
        return f"searched: {', '.join(self.searched) or 'nothing'}"


def find_ungrounded(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> tuple[Ungrounded, ...]:
    """The constants that a reader of provisions and documentation cannot know, in the order of the rules."""
    return tuple(part for rule in rules for part in _find(environment, regulation, rule))


def ungrounded_rules(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> Mapping[str, str]:
    """The rules with such a constant, by id, each with the constant."""
    return {one.rule: one.what for one in find_ungrounded(environment, regulation, rules) if one.decided}


def _find(environment: Environment, regulation: Regulation, rule: Rule) -> Iterator[Ungrounded]:
    atoms = [node for node in subformulas(rule.parsed) if isinstance(node, Atom)]
    named = list(dict.fromkeys(atom.tool for atom in atoms if atom.tool in environment.tools))
    cited = rule.provisions if rule.regulation == regulation.id else ()
    law = [provision.words() for citation in cited for provision in regulation.cited(citation)]
    decided = bool(law) and all(regulation.cited(citation) for citation in rule.provisions)
    near = [provision.words() for provision in _siblings(regulation, cited)]
    happens = [happening.description for happening in environment.agenda]
    owner = regulation.manual if rule.under else ()
    tools = [_documentation(environment.tools[name]) for name in named]
    texts = [*law, *near, *owner, environment.summary, *happens, *tools]
    numbers = frozenset[float]().union(*map(_numbers, texts))
    for constant, place in dict.fromkeys(_constants(rule.parsed)):
        if isinstance(constant, str):
            known = any(_says(text, constant) for text in texts)
        else:
            known = any(value in numbers for value in _spellings(constant))
        if not known:
            what = f'"{constant}"' if isinstance(constant, str) else str(constant)
            yield Ungrounded(rule.id, place, what, (*rule.provisions, *named), decided)


def _siblings(regulation: Regulation, cited: Sequence[str]) -> Iterator[Provision]:
    """The other paragraphs of the same article, or points of the same list, which a reader of one reads with it."""
    lists = {_parent(citation) for citation in cited if _parent(citation) != citation}
    for provision in regulation.provisions:
        if provision.citation not in cited and _parent(provision.citation) in lists:
            yield provision


def _parent(citation: str) -> str:
    return re.sub(r"\([^()]*\)$", "", citation)


@lru_cache(maxsize=512)
def _documentation(tool: Tool) -> str:
    return "\n".join(text for text in scalars(document_tool(tool)) if isinstance(text, str))


@lru_cache(maxsize=2048)
def _numbers(text: str) -> frozenset[float]:
    """The numbers of a text, without those of articles, paragraphs and points, and those in dates.

    Of *30 days, or 30 more days* also the sum.
    """
    words = _REFERENCE.sub(" ", _COMPOUND.sub("", text))
    found = numbers_in(words)
    added = [one.value for one in found if re.match(r"\s+(?:more|further|additional)\b", words[one.span[1] :])]
    return frozenset([*(one.value for one in found), *(one.value + more for one in found for more in added)])


def _says(text: str, words: str) -> bool:
    """Whether the text has these words, or names the day that they are the date of."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", words):
        try:
            return bool(date_spans(text, dt.date.fromisoformat(words[:10])))
        except ValueError:
            pass
    return says(text, words.replace("_", " ")) or says(text, words)


def _spellings(constant: float | Span) -> Iterator[float]:
    """The numbers by which a text may say it: for whole days and things, `< 61` says *at most 60*."""
    amount = constant.amount if isinstance(constant, Span) else constant
    yield amount
    if not isinstance(constant, Span) or constant.unit in ("d", "calendar day"):
        yield from (amount - 1, amount + 1)
    if isinstance(constant, Span):
        if not constant.fixed:
            return
        yield from (constant.seconds / length for length in SECONDS.values())
        days = constant.seconds / SECONDS["d"]
    else:
        yield 100 * constant  # an amount in cents
        days = constant
    for length in (7, 365 / 12):  # days in weeks or months
        count = round(days / length)
        one_month = isinstance(constant, Span) and length > 7
        if count >= (1 if one_month else 2) and abs(days / length - count) < 0.1:
            yield count


# The constants of a formula.


def _constants(formula: Formula) -> Iterator[tuple[str | float | Span, str]]:
    """Each with the atom, the comparison or the operator that it stands in."""
    for node in subformulas(formula):
        yield from ((span, str(node)) for window in windows_of(node) for span in _spans(window))
        condition = node.condition if isinstance(node, Atom) and node.tool != "user" else None
        condition = node.comparison if isinstance(node, Compare) else condition
        for leaf in () if condition is None else condition_leaves(condition):
            yield from ((constant, str(node)) for constant in _leaf_constants(leaf))


def _spans(window: Window) -> Iterator[Span]:
    return (bound.span for bound in (window.lower, window.upper) if bound is not None and bound.span.amount > 1)


def _leaf_constants(leaf: Term) -> Iterator[str | float | Span]:
    match leaf:
        case LiteralValue(str() as content):
            yield content
        case LiteralValue(int() | float() as content) if content not in (0, 1):
            yield content
        case LiteralList(items):
            for item in items:
                yield from _leaf_constants(item)
        case SpanLiteral(span) if span.amount > 1:
            yield span
        case _:
            pass
