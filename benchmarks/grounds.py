"""How many wrong constants the check of grounds finds in the curated rules.

    python -m benchmarks.grounds

Each number n of each rule is changed to 2n + 1, each text to another option or event of the environment and to one that
no tool knows. Mutants that the language or the declaration refuses are left out. A mutant is found if its rule has a
finding.
"""

import re
from collections import Counter
from collections.abc import Iterator

from lawtrace.environments.spec.types import Choice
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.solver.lint.rule_grounds import find_ungrounded
from lawtrace.solver.rules import Rule, check_rules, load_rules

_NUMBER = re.compile(r'(?<![\w."])\d+(?:\.\d+)?')
_TEXT = re.compile(r'"([^"]+)"')


def main() -> None:
    """Print a table: environment, kind of mutant, found, made."""
    total = Counter[tuple[str, bool]]()
    print("| environment | numbers | other options and events | unknown texts |")
    print("| --- | --- | --- | --- |")
    for name in BUILT_IN_DOMAINS:
        domain = load_domain(name)
        counted = Counter(_judged(domain))
        total += counted
        print(_row(name, counted))
    print(_row("all", total))


def _row(name: str, counted: Counter[tuple[str, bool]]) -> str:
    kinds = ("number", "option", "unknown")
    cells = (f"{counted[kind, True]} of {counted[kind, True] + counted[kind, False]}" for kind in kinds)
    return f"| {name} | {' | '.join(cells)} |"


def _judged(domain: Domain) -> Iterator[tuple[str, bool]]:
    for rule in load_rules(domain.rules_file):
        for kind, formula in _mutants(domain, rule.formula):
            mutant = rule.model_copy(update={"formula": formula})
            mutant = Rule.model_validate(mutant.model_dump())
            try:
                check_rules([mutant], domain.environment, domain.regulation)
                findings = find_ungrounded(domain.environment, domain.regulation, [mutant])
            except InputError:
                continue
            yield kind, bool(findings)


def _mutants(domain: Domain, formula: str) -> Iterator[tuple[str, str]]:
    for found in _NUMBER.finditer(formula):
        number = 2 * float(found[0]) + 1
        yield "number", f"{formula[: found.start()]}{number:g}{formula[found.end() :]}"
    for found in _TEXT.finditer(formula):
        before, after = formula[: found.start()], formula[found.end() :]
        other = _other(domain, found[1])
        if other is not None:
            yield "option", f'{before}"{other}"{after}'
        yield "unknown", f'{before}"zyx {found[1][::-1]}"{after}'


def _other(domain: Domain, text: str) -> str | None:
    """The next option of a choice that has this one, or the next event."""
    environment = domain.environment
    types = [parameter.type for tool in environment.tools.values() for parameter in tool.parameters]
    types += [field.type for entity in environment.entities.values() for field in entity.fields.values()]
    groups = [environment.event_names, *(kind.options for kind in types if isinstance(kind, Choice))]
    for group in groups:
        if text in group and len(group) > 1:
            return group[(group.index(text) + 1) % len(group)]
    return None


if __name__ == "__main__":
    main()
