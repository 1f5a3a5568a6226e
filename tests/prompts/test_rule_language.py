"""The reference of the rule language in prompts: its examples hold, and it names what docs/rules-language.md names."""

import re
from dataclasses import replace

import pytest

from lawtrace.prompts.loader import load_prompt, prompt_ids
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.signature import MESSAGES, Declared, ToolSignature
from lawtrace.solver.logic.syntax import RESERVED
from lawtrace.solver.logic.terms import FUNCTIONS
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.trace_notation import read_trace
from tests.support.pages import ROOT

REFERENCE = load_prompt("rule_language").body
PAGE = (ROOT / "docs" / "rules-language.md").read_text(encoding="utf-8").split("## The end of a trace")[0]
EXAMPLES = re.findall(r"```rule\n(.*?)\n\nkept\n(.*?)\nbroken\n(.*?)\n```", REFERENCE, re.DOTALL)
SHORT = re.findall(r"`([^`]*(?:\) U | -> )[^`]*)`", REFERENCE.partition("Two short shapes")[2].partition("\n")[0])
KINDS = {"text": Declared("string"), "number": Declared("number"), "boolean": Declared("boolean")}
INVENTORY = (
    *(RESERVED - {"says"}),  # no law is about it
    *FUNCTIONS,
    *("count", "sum", "min", "max", "avg", "last", "distinct", "since", "of", "for", "now", "position"),
    *("and", "or", "not", "in", "startswith", "endswith", "contains", "matches", "any", "all", "user", "agent"),
    *("s", "min", "h", "d", "w", "calendar days", "calendar month", "calendar year", "business day"),
)


def tools() -> dict[str, ToolSignature]:
    """The tools of the examples, from their table."""
    table = REFERENCE.partition("| tool | arguments | result |")[2].partition("\n\n")[0]
    declared: dict[str, ToolSignature] = {}
    for name, arguments, result in re.findall(r"^\| (\w+) \| (.*?) \| (.*?) ?\|$", table, re.MULTILINE):
        fields: dict[str, Declared] = {}
        item: dict[str, Declared] = {}
        for path, kind in re.findall(r"([\w.]+): (\w+)", result):
            outer, _, inner = path.partition(".")
            if inner:
                item[inner] = KINDS[kind]
            fields[outer] = Declared("object", fields=item) if inner else KINDS[kind]
        given = {argument: KINDS[kind] for argument, kind in re.findall(r"(\w+): (\w+)", arguments)}
        declared[name] = ToolSignature(given, Declared("object", fields=fields))
    return {**MESSAGES, **declared}


def grammar(text: str) -> list[str]:
    """The lines of the grammar, without the notes beside them."""
    block = re.search(r"^    formula    = .*?(?=\n\n)", text, re.DOTALL | re.MULTILINE)
    assert block
    return [re.split(r" {5,}", line.strip())[0] for line in block[0].splitlines()]


def named(text: str) -> set[str]:
    """The constructs that stand in code: in backquotes, or in the grammar."""
    code = " ".join([*re.findall(r"`([^`\n]+)`", text), *grammar(text)])
    return {word for word in INVENTORY if re.search(rf"(?<![A-Za-z_]){re.escape(word)}(?![A-Za-z_])", code)}


def test_examples_are_found() -> None:
    assert len(EXAMPLES) == REFERENCE.count("```rule\n") >= 7
    assert len(SHORT) == 2
    assert len(tools()) >= 10


@pytest.mark.parametrize("formula", [*SHORT, *(formula for formula, _, _ in EXAMPLES)])
def test_examples_parse_and_fit_their_tools(formula: str) -> None:
    check_formula(parse(formula), tools(), formula)
    FirstOrderRule(parse(formula))


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_judge_their_sessions(example: tuple[str, str, str]) -> None:
    formula, kept, broken = example
    for text, value in ((kept, True), (broken, False)):
        monitor, written = FirstOrderMonitor(FirstOrderRule(parse(formula))), read_trace(text)
        for place, event in enumerate(written.events):
            monitor.feed(replace(event, time=place) if event.time is None else event)
        assert monitor.verdict_at_end(written.end) is value


def test_code_stays_on_its_line() -> None:
    assert all(line.count("`") % 2 == 0 for line in REFERENCE.replace("```", "").splitlines())


def test_the_grammar_is_that_of_the_page() -> None:
    assert grammar(REFERENCE) == grammar(PAGE)


def test_every_construct_of_the_page_is_named_and_no_other() -> None:
    assert named(REFERENCE) == named(PAGE)
    assert {*FUNCTIONS} <= named(REFERENCE)


@pytest.mark.parametrize("window", re.findall(r"`(\[[^`]+\])`", REFERENCE))
def test_windows_parse(window: str) -> None:
    parse(f"F{window} a")


def test_normal_forms_of_duties_parse() -> None:
    """Their notions, such as `done(i)`, stand for definitions."""
    section = REFERENCE.partition("### Duties in their normal form")[2].partition("### ")[0]
    forms = [form for form in re.findall(r"`([^`]+)`", section) if "(i)" in form or form.startswith("G(")]
    assert len(forms) >= 6
    for form in forms:
        calls = re.sub(r"\b([a-z]+)\(i, c\)", r"\1(item_id == i, colour == c)", form)
        calls = re.sub(r"\b([a-z]+)\(i\)", r"\1(item_id == i)", calls).replace("[w]", "[<= 72h]").replace("...", "Done")
        parse(f"forall i, c: {calls}" if " c)" in calls else f"forall i: {calls}")


def test_the_form_of_environments_is_that_of_the_page() -> None:
    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    assert f"## Reference\n\n{load_prompt('environment_form').body}\n## " in page


def test_roles_that_write_or_judge_formulas_read_it() -> None:
    reading = {name for name in prompt_ids() if REFERENCE in load_prompt(name).body}
    assert reading == {"rule_language", "policy_extractor", "ltl_critic"}
