"""Rules under review: the quoted passages of their provisions, automaton and example traces."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from lawtrace.agents.conversations.provenance import RuleCandidate
from lawtrace.environments.domains.loader import Domain
from lawtrace.runs.store.provenance_file import ExtractionProvenance
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.web.review.automaton_drawing import draw_automaton
from lawtrace.runs.web.review.decisions import ReviewItem
from lawtrace.schemas.errors import InputError
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.lint.rule_sets import RuleExamples, find_rule_examples
from lawtrace.solver.logic.syntax import ForAll, Formula, Or
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.rules import Rule, check_rules

_ALIKE = {
    "'": "['‘’]",
    "‘": "['‘’]",
    "’": "['‘’]",
    '"': '["“”]',
    "“": '["“”]',
    "”": '["“”]',
    "-": "[-–—]",
    "–": "[-–—]",
}


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A piece of a text; the pieces together are the whole text."""

    words: str
    quoted: bool


def split_at_quotes(words: str, quotes: Sequence[str]) -> tuple[QuotedText, ...]:
    """Split the words at the quotes.

    A quote is found regardless of whitespace, case and style of quotation marks; a quote that is not found is ignored.
    """
    spans = sorted(span for quote in quotes if (span := _find(words, quote)) is not None)
    pieces: list[QuotedText] = []
    place = 0
    for start, end in spans:
        if end > place:
            pieces += [QuotedText(words[place:start], False), QuotedText(words[max(start, place) : end], True)]
            place = end
    pieces.append(QuotedText(words[place:], False))
    return tuple(piece for piece in pieces if piece.words)


def _find(words: str, quote: str) -> tuple[int, int] | None:
    pieces = ("".join(_ALIKE.get(letter, re.escape(letter)) for letter in piece) for piece in quote.split())
    pattern = r"\s+".join(pieces)
    found = re.search(pattern, words, re.IGNORECASE) if pattern else None
    return found.span() if found else None


_MOST_STATES = 12


@dataclass(frozen=True, slots=True)
class QuotedProvision:
    """A provision cited by a rule: its words, split at the quotes; empty if the words are not available."""

    citation: str
    pieces: tuple[QuotedText, ...]


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The values shown beside a rule.

    Attributes:
        meaning: the rule as an English sentence, if a template matches.
        drawing: of the automaton, if there is one that is small enough.
        undrawn: why there is none.
    """

    rule: Rule
    meaning: str
    provisions: tuple[QuotedProvision, ...]
    drawing: Markup | None
    undrawn: str
    examples: RuleExamples
    quantified: bool


class RuleReview:
    """A rule file with its domain, and the provenance of its extraction if there is one."""

    noun = "rule"
    template = "review/rule_context.html.jinja"

    def __init__(self, rules: Sequence[Rule], domain: Domain, provenance: ExtractionProvenance | None = None) -> None:
        """Raises InputError for rules that do not fit the environment."""
        check_rules(rules, domain.environment)
        self.title = f"Rules for {domain.environment.name}"
        self._rules = {rule.id: rule for rule in rules}
        self._domain = domain
        self._words = {p.citation: p.whole() for p in domain.regulation.provisions}
        self._candidates: tuple[RuleCandidate, ...] = provenance.rules if provenance else ()
        if provenance is not None:
            self._words |= {p.citation: p.words for p in provenance.provisions}
        self._examples = lru_cache(maxsize=512)(self._find_examples)

    def items(self) -> list[ReviewItem]:
        return [ReviewItem(rule.id, rule.id, rule.formula) for rule in self._rules.values()]

    def context(self, item: ReviewItem) -> RuleContext:
        rule = self._rule(item)
        compiled, drawing = rule.compiled, None
        if not isinstance(compiled, Automaton):
            undrawn = "A rule on time, several objects or sums has no automaton."
        elif len(compiled.verdicts) > _MOST_STATES:
            undrawn = f"The automaton is too large to draw: {len(compiled.verdicts)} states."
        else:
            undrawn, drawing = "", draw_automaton(compiled)
        provisions = tuple(
            QuotedProvision(citation, split_at_quotes(self._words.get(citation, ""), self._quotes(item.id, citation)))
            for citation in rule.provisions
        )
        quantified = isinstance(rule.parsed, ForAll)
        return RuleContext(rule, _meaning(rule), provisions, drawing, undrawn, self._examples(item.words), quantified)

    def check_edit(self, item: ReviewItem, text: str) -> str | None:
        try:
            rule = self._rule(item, text)
            check_rules([rule], self._domain.environment)
            _ = rule.compiled
        except (InputError, ValueError) as error:
            return str(error)
        return None

    def export(self, accepted: Sequence[ReviewItem], path: Path) -> int:
        return write_rows(path, [self._rule(item) for item in accepted])

    def _rule(self, item: ReviewItem, text: str | None = None) -> Rule:
        given = self._rules[item.id]
        formula = item.words if text is None else text
        if formula == given.formula:
            return given
        who = f" Edited by {item.edited_by}." if item.edited_by else ""
        return Rule.model_validate(
            {**given.model_dump(), "formula": formula, "rationale": f"{given.rationale}{who}".strip()}
        )

    def _quotes(self, rule: str, citation: str) -> tuple[str, ...]:
        own = (candidate for candidate in self._candidates if candidate.rule.id == rule or rule in candidate.into)
        return tuple(
            dict.fromkeys(quote.words for candidate in own for quote in candidate.quotes if quote.citation == citation)
        )

    def _find_examples(self, formula: str) -> RuleExamples:
        return find_rule_examples(self._domain.environment, Rule(id="shown", formula=formula))


def _meaning(rule: Rule) -> str:
    match match_template(rule.parsed):
        case OperationalRestriction(check, action):
            return f"No {_either(action)} before {_either(check)} has happened."
        case InstructionAdherence(trigger, outcome):
            return f"After every {_either(trigger)}, {_either(outcome)} must happen sooner or later."
        case None:
            return ""


def _either(formula: Formula) -> str:
    """The calls in a part of a template, in English."""
    parts = [str(part) for part in (formula.operands if isinstance(formula, Or) else (formula,))]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
