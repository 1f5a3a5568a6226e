"""Grounds of rules: constants that no text states are found, and none of the curated ones is."""

import pytest

from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.lint.rule_grounds import find_ungrounded
from lawtrace.solver.rules import Rule, load_rules

BANKING = load_domain("banking").environment
SECURITY = load_domain("payments").environment


def found(formula: str, *law: str, payments: bool = False, regulation: str = "L") -> list[str]:
    """The constant of each finding about a rule that cites these provisions."""
    provisions = tuple(Provision(citation=f"Article {n}", text=text) for n, text in enumerate(law or ("Nothing.",), 1))
    text = Regulation(id="L", title="Law", source="L", restated=False, provisions=provisions)
    cited = tuple(provision.citation for provision in provisions)
    rule = Rule(id="r", formula=formula, regulation=regulation, provisions=cited)
    environment = SECURITY if payments else BANKING
    return [one.what for one in find_ungrounded(environment, text, [rule]) if one.decided]


@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_the_curated_rules_rest_on_the_texts(name: str) -> None:
    domain = load_domain(name)
    assert find_ungrounded(domain.environment, domain.regulation, load_rules(domain.rules_file)) == ()


@pytest.mark.parametrize(
    ("formula", "law"),
    [
        ("G !PayBill(amount > 500)", "Payments above EUR 500 are refused."),
        ("G !PayBill(amount > 0.5)", "At most 50 cents."),
        ("G(count(PayBill [<= 24h]) <= 3)", "There are at most three payments a day."),
        ("G(sum(amount of PayBill [<= 30d]) <= 150)", "Up to EUR 150 in 30 days."),
        ("G(PayBill -> F[<= 300s] RecordAuditEvent)", "It is recorded within 5 minutes after the payment."),
        ("G(PayBill -> F[<= 1 business day] RecordAuditEvent)", "It is recorded by the following business day."),
        (
            "G(PayBill -> F[<= 3 calendar months] RecordAuditEvent)",
            "It is recorded within a month, at most three in all.",
        ),
        ("G !PayBill(days(payment_date, now) > 396)", "No payment is dated back more than 13 months."),
        ("G !PayBill(days(payment_date, now) >= 61)", "At most 30 days back, or 30 more days."),
        ('G !PayBill(payment_date == "2026-04-01")', "There are no payments on 1 April 2026."),
        ('G !PayBill(payee_id == "P-1")', "Nothing goes to P-1."),
    ],
)
def test_a_constant_of_the_law_is_known(formula: str, law: str) -> None:
    assert found(formula, law) == []


@pytest.mark.parametrize(
    ("formula", "law", "constant"),
    [
        ("G !PayBill(amount > 400)", "Payments above EUR 500 are refused.", "400"),
        ("G !PayBill(amount > 90)", "Under Article 90, nothing is paid.", "90"),
        ("G(count(PayBill) <= 7)", "There is a limit, see point (7).", "7"),
        ("G(PayBill -> F[<= 6min] RecordAuditEvent)", "It is recorded within 5 minutes after the payment.", "6min"),
        ('G !PayBill(payment_date == "2026-04-02")', "There are no payments on 1 April 2026.", '"2026-04-02"'),
        ('G !PayBill(payee_id == "P-1")', "Nothing goes to P-10.", '"P-1"'),
        ('G(PayBill -> F RecordAuditEvent("FUNDS_TRANSFER" in events))', "It is recorded.", '"FUNDS_TRANSFER"'),
    ],
)
def test_a_constant_that_stands_nowhere_is_found(formula: str, law: str, constant: str) -> None:
    assert constant in found(formula, law)


@pytest.mark.parametrize(("under", "missing"), [({}, ["4h"]), ({"undue": ("hours",)}, [])])
def test_a_reading_may_take_its_number_from_the_manual(under: dict[str, tuple[str, ...]], missing: list[str]) -> None:
    readings = (Reading(id="hours", means="more than four hours"), Reading(id="none", means="no hours"))
    question = Question(id="undue", provisions=("Article 1",), asks="How long is undue?", readings=readings)
    rule = Rule(
        id="r",
        formula="G(PayBill -> F[<= 4h] RecordAuditEvent)",
        regulation="L",
        provisions=("Article 1",),
        under=under,
        questions=(question,) if under else (),
    )
    law = Provision(citation="Article 1", text="It is recorded without undue delay.")
    text = Regulation(
        id="L",
        title="Law",
        source="L",
        restated=False,
        provisions=(law,),
        manual=("Record payments within four hours.",),
    )
    assert [one.what for one in find_ungrounded(BANKING, text, [rule])] == missing


def test_options_and_events_of_the_documentation_are_known() -> None:
    assert found('G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))') == []
    sound = (
        'G(AuthenticatePayment(second_element == "password") -> O ReadSecurityFile(result.file.password == "sound"))'
    )
    assert found(sound, "It applies only with a sound password.", payments=True) == []


def test_what_a_user_says_needs_no_ground_and_what_the_agent_says_does() -> None:
    assert found('G(PayBill -> O user("yes"))', "Only with consent.") == []
    assert found('G(PayBill -> O agent("sorry"))', "Only with consent.") == ['"sorry"']


def test_neighbours_of_a_provision_are_searched_for_constants() -> None:
    texts = {"Article 3(1)": "It is paid.", "Article 3(2)": "At most EUR 20.", "Article 4(1)": "At most EUR 30."}
    provisions = tuple(Provision(citation=citation, text=text) for citation, text in texts.items())
    law = Regulation(id="L", title="", source="", restated=False, provisions=provisions)

    def missing(amount: int) -> bool:
        rule = Rule(id="r", formula=f"G !PayBill(amount > {amount})", regulation="L", provisions=("Article 3(1)",))
        return bool(find_ungrounded(BANKING, law, [rule]))

    assert (missing(20), missing(30)) == (False, True)


def test_nothing_is_claimed_of_provisions_that_are_not_there() -> None:
    assert found("G !PayBill(amount > 400)", regulation="another") == []
