"""The two templates, and the check of names in formulas."""

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import equivalent
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.signature import ANYTHING, Declared, ToolSignature
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, Template, match_template
from lawtrace.solver.logic.type_check import check_formula
from tests.support.semantics import of_facts


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("NOT ((NOT Check) UNTIL Pay)", OperationalRestriction(parse("Check"), parse("Pay"))),
        ("!(!(A | B) U (C | D))", OperationalRestriction(parse("A | B"), parse("C | D"))),
        ("Check R !Pay(x > 1)", OperationalRestriction(parse("Check"), parse("Pay(x > 1)"))),
        ("ALWAYS (Pay IMPLIES EVENTUALLY(Audit))", InstructionAdherence(parse("Pay"), parse("Audit"))),
        ("G(!Pay | F Audit)", InstructionAdherence(parse("Pay"), parse("Audit"))),
        ("G(Pay & !Check -> F(Audit | Report))", InstructionAdherence(parse("Pay & !Check"), parse("Audit | Report"))),
        ("(!Pay) W Check", None),
        ("!(Check U Pay)", None),
        ("!(!X Check U Pay)", None),
        ("!(!O Check U Pay)", None),
        ("G(Pay -> F G Audit)", None),
        ("G(Pay -> X Audit)", None),
        ("F Pay", None),
    ],
)
def test_templates_are_recognised(text: str, template: Template | None) -> None:
    assert match_template(parse(text)) == template
    if template is not None:
        assert match_template(template.formula) == template
        assert equivalent(*(compile_formula(of_facts(one)) for one in (template.formula, parse(text))))


TOOLS = {
    "PayBill": ToolSignature(dict.fromkeys(("amount", "payee_id"), ANYTHING)),
    "CheckAuthorization": ToolSignature({"session_id": ANYTHING}, Declared("object", fields={"authorized": ANYTHING})),
}


@pytest.mark.parametrize(
    "text",
    [
        "G(PayBill(amount > 1 and payee_id == 2) -> F CheckAuthorization(result.authorized))",
        "attempted(PayBill(result))",
        "F PayBill(result.anything)",
    ],
)
def test_known_names(text: str) -> None:
    check_formula(parse(text), TOOLS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F PayBil", "unknown tool `PayBil`: did you mean `PayBill`?"),
        ("F Zebra", "unknown tool `Zebra`: there is `CheckAuthorization`, `PayBill`"),
        ("F PayBill(amout > 1)", "`PayBill` has no argument `amout` in `PayBill(amout > 1)`: did you mean `amount`?"),
        (
            "G CheckAuthorization(result.authorised)",
            "the result of `CheckAuthorization` has no field `authorised` in "
            "`CheckAuthorization(result.authorised)`: did you mean `authorized`?",
        ),
    ],
)
def test_unknown_names(text: str, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        check_formula(parse(text), TOOLS)
    assert str(caught.value) == said
