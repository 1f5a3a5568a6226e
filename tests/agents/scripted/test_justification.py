"""What the offline extractor proposes, and what the offline critic objects to: the words of a sentence justify it."""

import json
from collections import Counter
from typing import Any

import pytest
from autogen_core.models import SystemMessage, UserMessage

from benchmarks.extraction import judge, judge_mutant, mutants, restated_sentences, sentences, tools_of
from lawtrace.agents.scripted.deontic_patterns import NotUnderstood
from lawtrace.agents.scripted.justification import Understood, find_objection, understand
from lawtrace.agents.scripted.offline_extraction import criticise_rules
from lawtrace.agents.scripted.stemming import root

POLICY = "A statement of an account must not be retrieved before the authorisation has been checked."


@pytest.mark.parametrize("half", [1, 2])
def test_no_rule_of_the_invented_policies_is_wrong(half: int) -> None:
    own = [one for one in sentences() if one.half == half]
    results = Counter(judge(one.tools, one.text, one.formulas) for one in own)
    assert len(own) == 20
    assert results["wrong"] == 0
    assert results["right"] >= {1: 20, 2: 17}[half]


@pytest.mark.slow
def test_no_mutant_gives_a_rule_that_it_does_not_mean() -> None:
    read = [(one, [u for u in understand(text, tools_of(one)) if isinstance(u, Understood)], text)
            for one, text in restated_sentences()]  # fmt: skip
    understood = [(tools, text) for tools, found, text in read if found]
    made = list(mutants([*understood, *((one.tools, one.text) for one in sentences())]))
    results = Counter((mutant.kind, judge_mutant(mutant)) for mutant in made)
    assert len(made) > 150
    assert [kind for (kind, result), _ in results.items() if result == "wrong"] == []
    assert results["foreign word", "right"] == 0


CHECKED = "!((!CheckAuthorization) U TransferFunds)"
RECORDED = "G(TransferFunds -> F RecordAuditEvent)"


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("An authorization check must come before a transfer of funds.", CHECKED),
        ("A transfer of funds must be preceded by an authorization check.", CHECKED),
        ("Before funds are transferred, the provider shall check the authorization.", CHECKED),
        ("Before it transfers funds the assistant must check the authorization.", CHECKED),
        ("The authorization must be checked prior to any transfer of funds.", CHECKED),
        ("Funds may be transferred only after the authorization has been checked.", CHECKED),
        ("Only after an authorization check may funds be transferred.", CHECKED),
        ("No funds may be transferred until the authorization has been checked.", CHECKED),
        ("The agent must not transfer funds without checking the authorization.", CHECKED),
        ("The bank shall make sure that: funds must not be transferred unless the authorization was checked.", CHECKED),
        ("After every transfer of funds, the agent must record an audit event.", RECORDED),
        ("Every transfer of funds must afterwards be recorded as an audit event.", RECORDED),
        ("Every transfer of funds must be followed by the recording of an audit event.", RECORDED),
        ("Once funds have been transferred, an audit event must be recorded.", RECORDED),
        ("If funds were transferred, an audit event must be recorded.", RECORDED),
        ("An audit event must be recorded within 72 hours of a transfer of funds.",
         "G(TransferFunds -> F[<= 72h] RecordAuditEvent)"),
        ("An audit event must be recorded no later than two business days after funds were transferred.",
         "G(TransferFunds -> F[<= 2 business days] RecordAuditEvent)"),
        ("The authorization must be checked at most 15 minutes before funds are transferred.",
         "G(TransferFunds -> O[<= 15min] CheckAuthorization)"),
        ("The agent must never transfer funds.", "G(!TransferFunds)"),
        ("The transfer of funds is prohibited.", "G(!TransferFunds)"),
        ("Funds may be transferred only if the amount is at most 500 euro.", "G(!TransferFunds(amount > 500))"),
        ("Funds must not be transferred if the amount exceeds EUR 1,500.50.", "G(!TransferFunds(amount > 1500.5))"),
        ("Funds must not be transferred unless the session is authorized.",
         "!((!CheckAuthorization(result.authorized)) U TransferFunds)"),
        ("After a bill has been paid, the assistant may not transfer funds.", "G(PayBill -> G !TransferFunds)"),
        ("An audit event must not be recorded within 24 hours of a transfer of funds.",
         "G(TransferFunds -> G[<= 24h] !RecordAuditEvent)"),
    ],
)  # fmt: skip
def test_plain_duties_are_understood(text: str, formula: str) -> None:
    assert judge("banking", text, [formula]) == "right"


def reason(text: str, tools: str = "banking") -> str:
    (one,) = understand(text, tools_of(tools))
    assert isinstance(one, NotUnderstood)
    return one.because


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("The assistant must feed the cat before it pays a bill.", "'feed the cat' names no tool"),
        ("A bill must not be paid before an account is shown.", "GetAccountStatement are equally near"),
        ("Whenever funds are transferred, an audit event must be recorded.", "'Whenever' says neither"),
        ("Funds must be transferred and bills must be paid.", "two duties"),
        ("If funds were transferred and a bill was paid, an audit event must be recorded.", "both together"),
        ("The assistant must not transfer funds and pay a bill.", "both together"),
        ("A bill must not be paid before a payee is searched or an authorization is checked.", "one of"),
        ("Funds shall be transferred only before the authorization is checked.", "'only' stands"),
        ("A check of the authorization must come after a transfer of funds.", "'must come after' can forbid"),
        ("The customer must pay a bill before funds are transferred.", "it binds 'The customer'"),
        ("An audit event must be recorded without undue delay after a bill is paid.", "'without undue delay'"),
        ("A bill must not be paid before a payee search is made. This does not apply to rent.", "exception"),
        ("Funds of more than 500 dollars and 3 items must not be transferred.", "names no tool"),
    ],
)  # fmt: skip
def test_the_reason_names_the_part_that_is_not_understood(text: str, because: str) -> None:
    assert because in reason(text)


def test_each_part_of_a_rule_has_its_words() -> None:
    text = "Within 72 hours of a transfer of funds of more than 500 euro, an audit event must be recorded."
    (one,) = understand(text, tools_of("banking"))
    assert isinstance(one, Understood)
    (rule,) = one.rules
    assert rule.formula == "G(TransferFunds(amount > 500) -> F[<= 72h] RecordAuditEvent)"
    assert {ground.part: ground.words for ground in rule.grounds} == {
        "order": "must ... of",
        "first": "a transfer of funds of more than 500 euro",
        "second": "an audit event ... be recorded",
        "period": "Within 72 hours of",
    }


@pytest.mark.parametrize(
    ("formula", "objection"),
    [
        ("!((!CheckAuthorization) U GetAccountStatement)", None),
        ("!((!GetAccountStatement) U CheckAuthorization)", "demands another rule"),
        ("!((!CheckAuthorization) U SearchTransactions)", "demands another rule"),
        ("G(GetAccountStatement -> F CheckAuthorization)", "demands another rule"),
        ("!((!CheckAuthorization(result.authorized)) U GetAccountStatement)", "demands another rule"),
    ],
)
def test_the_critic_objects_to_reversed_orders_and_other_tools(formula: str, objection: str | None) -> None:
    found = find_objection(formula, POLICY, tools_of("banking"))
    assert (found is None) if objection is None else (objection in (found or ""))


@pytest.mark.parametrize(
    ("formula", "objection"),
    [
        ("!((!SearchPayee) U PayBill)", None),
        ("!((!PayBill) U SearchPayee)", "'a bill is paid' names PayBill"),
        ("!((!SearchPayee) U TransferFunds)", "'a bill is paid' names PayBill, not TransferFunds"),
    ],
)
def test_the_critic_reads_a_sentence_in_part(formula: str, objection: str | None) -> None:
    text = "A thorough search of the payee must come before a bill is paid."
    found = find_objection(formula, text, tools_of("banking"))
    assert (found is None) if objection is None else (objection in (found or ""))


def test_the_critic_abstains_where_it_reads_nothing() -> None:
    text = "Providers apply strong customer authentication where the payer initiates an electronic payment."
    assert find_objection("!((!CheckAuthorization) U PayBill)", text, tools_of("banking")) is None


def test_the_critic_answers_with_objections() -> None:
    blocks = {"provisions": [{"citation": "1", "text": POLICY}], "documentation": {"tools": tools_of("banking")}}
    prompt = "\n".join(f"```json {name}\n{json.dumps(block)}\n```" for name, block in blocks.items())
    right, turned = "!((!CheckAuthorization) U GetAccountStatement)", "!((!GetAccountStatement) U CheckAuthorization)"
    proposed: dict[str, Any] = {
        "rules": [
            {"id": name, "formula": formula, "citation": "1", "quote": quote}
            for name, formula, quote in [("right", right, ""), ("reversed", turned, ""), ("invented", right, "x y")]
        ]
    }
    user = UserMessage(content=json.dumps({"proposal": proposed, "findings": []}), source="user")
    answer = json.loads(criticise_rules([SystemMessage(content=prompt), user]))
    assert [one["rule"] for one in answer["objections"]] == ["reversed", "invented"]


@pytest.mark.parametrize(
    "family",
    ["authorise authorisation authorized authorization", "retrieve retrieval retrieved", "pay payment paid",
     "verify verification verified", "notify notification", "cancel cancelled cancellation", "close closure closing",
     "delete deletion", "transfer transferred transfers", "revoke revocation", "approve approval", "erase erasure"],
)  # fmt: skip
def test_verbs_and_their_nouns_have_one_root(family: str) -> None:
    assert len({root(word) for word in family.split()}) == 1
