"""Type check of formulas against a declaration."""

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.signature import ANYTHING, NUMBER, TEXT, Declared, ToolSignature, environment_signature
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.rules import Rule, check_rules, load_rules

BOOLEAN = Declared("boolean")
ROW = Declared("object", fields={"id": TEXT, "amount": NUMBER, "parts": Declared("list", NUMBER)})
SIGNATURE = {
    "Pay": ToolSignature(
        {"amount": NUMBER, "payee": TEXT, "urgent": BOOLEAN, "kind": Declared("string", date=False),
         "any_value": ANYTHING},
        Declared("object", fields={"done": BOOLEAN, "rows": Declared("list", ROW), "first": ROW}),
    ),
    "Log": ToolSignature({"events": Declared("list", TEXT), "payee": TEXT, "sum_of": NUMBER, "due": TEXT}),
    "user": ToolSignature({"text": TEXT, "words": Declared("list", TEXT)}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ('F Pay(amount > "5")', 7, "compares a number with a text and is never true"),
        ("F Pay(payee == 5)", 7, "compares a text with a number"),
        ("F Pay(urgent == 1)", 7, "compares a boolean with a number"),
        ("F Pay(urgent < true)", 7, "orders by `urgent`, a boolean"),
        ('F Pay(amount startswith "1")', 7, "`startswith` is about texts, and `amount` is a number"),
        ('F Log(events contains "a")', 7, "`events` is a list: write `... in events`"),
        ("F Pay(1 in amount)", 7, "`in` needs a list or an object, and `amount` is a number"),
        ('F user("a" in text)', 8, "write `text contains ...`"),
        ("F Log(1 in events)", 7, "looks for a number in a list of which each element is a text"),
        (
            "F Pay(amount in [1, 2], payee in [3, 4])",
            25,
            "looks for a text in a list of which each element is a number",
        ),
        ("F Pay(amount)", 7, "stands alone and is a number, not true or false"),
        ("F Pay(payee + 1 == 2)", 7, "calculates with `payee`, a text: `number(...)`"),
        ("F Pay(urgent * 2 == 2)", 7, "calculates with `urgent`, a boolean"),
        ("F Pay(len(amount) > 2)", 7, "`amount` is a number, not a text or a list or an object"),
        ("F Log(total(events) > 2)", 7, "a list, but not of numbers"),
        ("F Pay(amount < now)", 7, "compares a number with a time"),
        ('F Pay(now > "2026-02-29")', 7, 'the text is not a date such as "2026-03-31"'),
        ("F Pay(kind < now)", 7, "the text is not a date"),
        ("F Pay(now + now > 3)", 7, "of times there are differences"),
        ("F Pay(amount.cents == 1)", 7, "`amount` is a number and has no part `cents`"),
        ("F Pay(result.done.x == 1)", 7, "`result.done` is a boolean and has no part `x`"),
        ('F Pay("a" in result.rows.idd)', 14, "a row of `result.rows` has no field `idd`: did you mean `id`?"),
        ("F Pay(result.first.sum == 1)", 7, "`result.first` has no field `sum`"),
        ("G(sum(amuont of Pay) < 3)", 17, "`Pay` has no argument `amuont` in `Pay`: did you mean `amount`?"),
        ("F Pay(result.rows.0.id == 1)", 7, "compares a text with a number"),
        ("F Pay(any r in amount: r == 1)", 16, "needs a list or an object, and `amount` is a number"),
        ('F Pay(any r in result.rows: r.amount == "a")', 29, "compares a number with a text"),
        ("F Pay(any r in result.rows: any p in r.parts: p.x == 1)", 47, "`p` is a number and has no part `x`"),
        ("G(sum(payee of Pay) < 3)", 7, "`sum` needs numbers, and `payee` is a text: count them instead"),
        ("G(avg(urgent of Pay) < 3)", 7, "`avg` needs numbers, and `urgent` is a boolean"),
        ('G(count(Pay) < "3")', 3, "compares a number with a text"),
        ('G(last(amount of Pay) == "3")', 3, "compares a number with a text"),
        ("G(now > 3)", 3, "write `date(...)` around a number of seconds"),
        ("forall x: G(Pay(amount == x) -> O Log(payee == x))", 39, "is a number in `Pay(amount == x)` and a text in"),
        ("forall x: G(Pay(amount == x) -> O Log(x in events))", 39, "the variable `x` is a number"),
        ('forall x: G(Pay(amount == x) -> x > "a")', 33, "compares a number with a text"),
        ("G(sum(x for x: O Pay(payee == x)) < 3)", 7, "`sum` needs numbers, and `x` is a text"),
        ("forall x: G(Pay -> F[<= 1h] Log(payee == x))", 29, "does not say which values `x` has"),
        ("F Pay(amont > 5)", 7, "no argument `amont`"),
        ("F (Log & Pya)", 10, "unknown tool `Pya`"),
        ("forall payee: G(Pay(any_value == payee) -> Log)", 8, "give the variable another name"),
    ],
)
def test_errors_point_at_the_place(text: str, column: int, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        check_formula(parse(text), SIGNATURE, text)
    first, line, caret = str(caught.value).split("\n")
    assert said in first
    assert first.startswith(f"line 1, column {column}: ")
    assert line.strip() == text
    assert caret.index("^") == line.index(text) + column - 1


@pytest.mark.parametrize(
    "text",
    [
        'F Pay(any_value > 3 and any_value startswith "a" and any_value.x.y == true and "a" in any_value)',
        "F Log(due < now and date(due) > now - 3d and days(due, now) > 3 and date(3) < now)",
        'F Log(due > "2026-03-31" and now > "2026-03-31")',
        "forall d: G(Log(due == d) -> now < d)",
        "F Pay(result.first.parts.0 == 3)",
        "F Pay(len(result.rows) == 3 and largest(result.first.parts) > 2 and total(result.rows.amount) > 2)",
        "(forall x: G(Pay(amount == x) -> O Log(sum_of == x))) & (forall x: G(Pay(payee == x) -> O Log(payee == x)))",
        "G(sum(amount of Pay [<= 1d]) + 1 < 3 & count(distinct payee of Pay) < 3 & now - max(now of Pay) < 3h)",
        "G(count(for x: O Pay(payee == x)) < 3)",
        'G(Pay -> O user("yes"))',
        "F Pay(number(payee) + 1 == 2)",
    ],
)
def test_what_fits_or_is_left_open_is_accepted(text: str) -> None:
    check_formula(parse(text), SIGNATURE, text)


def test_errors_without_a_text_have_no_place() -> None:
    with pytest.raises(FormulaError, match=r"^`amount > \"a\"` compares"):
        check_formula(parse('F Pay(amount > "a")'), SIGNATURE)


def test_a_place_on_a_later_line() -> None:
    text = 'G(Pay(amount == 1)\n  -> F Pay(amount == "1"))'
    with pytest.raises(FormulaError, match=r"^line 2, column 12: "):
        check_formula(parse(text), SIGNATURE, text)


def test_a_rule_begins_at_the_call_that_has_the_variable() -> None:
    with pytest.raises(FormulaError, match=r"let the rule begin there: `Log\(field == x\) & O \.\.\. -> \.\.\.`$"):
        check_formula(parse("forall x: G(Pay & X Log(payee == x) -> F[<= 1h] Pay(payee == x))"), SIGNATURE)


@pytest.mark.parametrize(
    ("text", "part", "remedy"),
    [
        ("forall x: G(Pay -> F[<= 1h] Log(payee == x))", "!F[<= 1h] Log(payee == x)", "O Log(payee == x)"),
        ("exists x: F !Pay(payee == x)", "!Pay(payee == x)", ""),
        ("forall x: G(Pay(amount > x) -> Log)", "Pay(amount > x)", ""),
        (
            f"forall x: G(Pay -> F[1h] Log({'sum_of > 1, ' * 30}payee == x))",
            f"!F[<= 1h] Log({'sum_of > 1 and ' * 8}",
            "O Log(payee == x)",
        ),
    ],
)
def test_unsafe_formulas_are_refused_with_a_remedy(text: str, part: str, remedy: str) -> None:
    with pytest.raises(FormulaError) as caught:
        check_formula(parse(text if "[" in text else f"{text} & O[<= 0s] true"), SIGNATURE)
    message = str(caught.value)
    assert message.startswith(f"`{part[:120]}")
    assert len(message) < 300
    assert "does not say which values `x` has" in message
    assert (f"add `& {remedy}` to what stands before `->`" if remedy else "as in `Tool(field == x) & ...`") in message
    if remedy:
        check_formula(parse(text.replace(" ->", f" & {remedy} ->")), SIGNATURE)


@pytest.mark.parametrize("name", ["banking", "telehealth", "smart_home"])
def test_the_curated_rules_have_no_faults(name: str) -> None:
    domain = load_domain(name)
    signature = environment_signature(domain.environment)
    for rule in load_rules(domain.rules_file):
        check_formula(rule.parsed, signature, rule.formula)


def test_rules_name_themselves_and_may_be_about_messages() -> None:
    environment = load_domain("banking").environment
    check_rules(
        [Rule(id="talk", formula='G(PayBill -> !user S user("yes")) & G(agent -> !user(text == "stop"))')], environment
    )
    with pytest.raises(FormulaError, match=r"^rule 'kinds': line 1, column 12: `amount > \"5\"` compares"):
        check_rules([Rule(id="kinds", formula='G !PayBill(amount > "5")')], environment)
    with pytest.raises(FormulaError, match=r"^rule 'free': line 1, column 33: .* does not say which values `x` has"):
        check_rules(
            [Rule(id="free", formula="forall x: G(PayBill -> F[<= 3d] TransferFunds(amount == x))")], environment
        )
    with pytest.raises(FormulaError, match="has no argument `txt`"):
        check_rules([Rule(id="talk", formula='G user(txt == "a")')], environment)
