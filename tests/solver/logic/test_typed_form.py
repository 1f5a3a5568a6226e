"""Typed forms mean what the formulas mean in the simulator, and are equal where types make formulas equal."""

from collections.abc import Iterator
from random import Random

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.signature import Declared, Signature, simulated_signature
from lawtrace.solver.logic.typed_form import typed_forms
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.rules import Rule
from tests.support.random_environments import random_multi_tool_environment, random_sessions


def entailed(world: str, one: str, other: str) -> tuple[bool, bool]:
    signature = simulated_signature(load_domain(world).environment)
    first, second = (normal_form(form) for form in typed_forms([parse(one), parse(other)], signature))
    return visibly_entails(first, second), visibly_entails(second, first)


EQUAL = """
banking: G(PayBill -> O CheckAuthorization(result.authorized))
         G(PayBill -> O CheckAuthorization(not result.authorized != true))
banking: G !CheckAuthorization(result.authorized == false)
         G !CheckAuthorization(not result.authorized)
banking: G(PayBill(amount > 100) -> F[<= 1h] CheckAuthorization)
         G(!F[<= 60min] CheckAuthorization -> !PayBill(100.01 <= amount))
banking: G !TransferFunds(from_account_number == to_account_number)
         G !TransferFunds(not to_account_number != from_account_number)
banking: G !GetAccountStatement(download == true)
         G !GetAccountStatement(download)
banking: G(PayBill(days(now, payment_date) <= 60) -> F[<= 1d] RecordAuditEvent)
         G(PayBill(not 61 <= days(now, payment_date)) -> F[<= 1d] RecordAuditEvent)
banking: forall p: G(PayBill(payee_id == p) -> count(PayBill(payee_id == p)) < 3)
         forall q: !F(PayBill(payee_id == q) & count(PayBill(payee_id == q)) > 2)
banking: G(PayBill -> sum(amount of PayBill [<= 24h]) <= 1000)
         G(PayBill -> !(1000 < sum(amount of PayBill [<= 24h])))
banking: forall m: G(TransferFunds(amount == m) -> !F[<= 1h] PayBill(amount > m))
         forall n: G(TransferFunds(amount == n) -> !F[<= 1h] PayBill(not n >= amount))
banking: G(PayBill -> O SearchPayee(len(result.payees) == 0))
         G(PayBill -> O SearchPayee(not len(result.payees) >= 1))
payments: G(AskAgreement -> F[<= 2d] DeclineRequest)
          G(AskAgreement(party == "payee") | AskAgreement(party == "payee's institution") -> F[<= 2d] DeclineRequest)
clinic: G !Wait(days > 2)
        G !Wait(days >= 3)
clinic: G !FindAuthorization(not result.authorization.status == "revoked" and result.authorization.covers == "marketing")
        G !FindAuthorization(result.authorization.status in ["in force", "expired"], "marketing" == result.authorization.covers)
payments: G(ApplyExemption(ground in ["low value", "own account"]) -> O ReadSecurityFile)
          G(ApplyExemption(ground != "trusted payee") -> O ReadSecurityFile)
"""  # noqa: E501
MISSING = """
banking: G !GetAccountStatement(download == false)
         G !GetAccountStatement(not download)
banking: G !attempted(PayBill(amount > 5))
         G !attempted(PayBill(not amount <= 5))
banking: count(PayBill) < 3
         !(count(PayBill) >= 3)
clinic: G !FindAuthorization(not result.authorization.status == "revoked")
        G !FindAuthorization(result.authorization.status in ["in force", "expired"])
"""


@pytest.mark.parametrize("pairs", [EQUAL, MISSING])
def test_equal_by_types_but_not_where_a_value_may_be_missing(pairs: str) -> None:
    lines = [line.strip() for line in pairs.strip().splitlines()]
    for first, other in zip(lines[::2], lines[1::2], strict=True):
        world, one = first.split(": ", 1)
        assert entailed(world, one, other) == (True, True) or pairs is MISSING, (one, other)
        assert entailed(world, one, other) != (True, True) or pairs is EQUAL, (one, other)


def random_call(signature: Signature, random: Random) -> str:
    """A call of a tool with conditions on arguments, results and the variable v."""
    tool = random.choice([*signature])
    known = [*signature[tool].arguments.items(), *fields(signature[tool].result, "result")]
    parts: list[str] = []
    for _ in range(random.randrange(1, 4)):
        (one, declared), (other, _) = random.choice(known), random.choice(known)
        sign = random.choice(("==", "!=", "<", "<=", ">", ">="))
        options = (*getattr(declared.type, "options", ()), "", "ash", "P-10")
        forms = {
            "boolean": [one, f"{one} == {random.choice(('true', 'false'))}", f"{one} != true"],
            "number": [f"{one} {sign} {number}" for number in (0, 1, 2, 100, 100.01)],
            "string": [f'{one} {sign} "{random.choice(options)}"', f'{one} in ["ash", "{random.choice(options)}"]'],
            "list": [f"1 {sign} len({one})"],
        }
        found = random.choice([*forms.get(str(declared.kind), []), f"{one} {sign} {other}", f"{one} {sign} v"])
        parts.append(f"not ({found})" if random.random() < 0.4 else f"({found})")
    return f"{tool}({random.choice((' and ', ' or ')).join(parts)})"


def fields(of: Declared, path: str) -> Iterator[tuple[str, Declared]]:
    if of.fields is None:
        yield path, of
    for name, part in (of.fields or {}).items():
        yield from fields(part, f"{path}.{name}")


def random_rule(signature: Signature, random: Random) -> s.Formula:
    form = random.choice(("G({} -> F {})", "G({} -> O {})", "G({} -> F[<= 5s] {})", "G({} -> !Y O {})"))
    tool = random.choice([name for name, one in signature.items() if one.arguments])
    guard, call = f"{tool}({random.choice([*signature[tool].arguments])} == v)", random_call(signature, random)
    count = f"count({call}) {random.choice(('<', '<=', '>', '>='))} {random.randrange(3)}"
    return parse(f"forall v: {form.format(guard, random.choice((call, call, f'({count})')))}")


@pytest.mark.parametrize("world", ["banking", "clinic", "payments", *range(6)])
def test_monitors_find_no_difference(world: str | int) -> None:
    environment = load_domain(world).environment if isinstance(world, str) else random_multi_tool_environment(world)[0]
    random, signature, checked = Random(f"{world}"), simulated_signature(environment), 0
    sessions = [*random_sessions(environment, random, 30)]
    for _ in range(25):
        rules = [random_rule(signature, random) for _ in range(2)]
        for rule, typed in zip(rules, typed_forms(rules, signature), strict=True):
            try:
                compiled = [Rule(id="r", formula=str(form)).compiled for form in (rule, typed)]
            except FormulaError:  # not safe
                continue
            checked += typed != rule
            for one in sessions:
                found = [Monitor({"r": each}).run(one.events).status("r", one.end) for each in compiled]
                assert len({OUTCOMES[each.ending] for each in found}) == 1, (rule, typed, one.events)
    assert checked > 10
