"""Rules under review: their provisions, and example traces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.web.review.decisions import ReviewItem
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.lint.rule_sets import RuleExamples, find_rule_examples
from lawtrace.solver.rules import Rule, RuleExample, RuleFile, check_rules


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The values shown beside a rule.

    Attributes:
        provisions: those that it cites, and their words, empty if they are not available.
        written: the examples beside the rule.
    """

    rule: Rule
    provisions: Mapping[str, str]
    examples: RuleExamples
    written: tuple[RuleExample, ...]


class RuleReview:
    """A rule file under review.

    Attributes:
        noun: the name of a group of items, and ``template`` that which shows an item.
    """

    noun = "rule"
    template = "review/rule_context.html.jinja"

    def __init__(self, file: RuleFile, domain: Domain) -> None:
        """Raises InputError for rules that do not fit the environment."""
        check_rules(file.rules, domain.environment)
        self.title = f"Rules for {domain.environment.name}"
        self._rules = {rule.id: rule for rule in file.rules}
        self._written = {rule.id: examples for rule, examples in file.examples}
        self._domain = domain
        self._examples = lru_cache(maxsize=512)(self._find_examples)

    def items(self) -> list[ReviewItem]:
        return [ReviewItem(rule.id, rule.id, rule.formula) for rule in self._rules.values()]

    def context(self, item: ReviewItem) -> RuleContext:
        """The values shown beside the item by the template."""
        rule = self._rule(item)
        law = self._domain.regulation
        provisions = {name: "\n".join(one.words() for one in law.cited(name)) for name in rule.provisions}
        written = self._written.get(item.id, ())
        return RuleContext(rule, provisions, self._examples(item.words), written)

    def check_edit(self, item: ReviewItem, text: str) -> str | None:
        """Why the text cannot replace the words of the item; None if it can."""
        try:
            rule = self._rule(item, text)
            check_rules([rule], self._domain.environment)
            _ = rule.compiled
        except (InputError, ValueError) as error:
            return str(error)
        return None

    def export(self, accepted: Sequence[ReviewItem], path: Path) -> int:
        """Write the accepted items; return the number of rows."""
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

    def _find_examples(self, formula: str) -> RuleExamples:
        return find_rule_examples(self._domain.environment, Rule(id="shown", formula=formula))
