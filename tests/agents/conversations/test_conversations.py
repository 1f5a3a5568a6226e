"""Whole conversations with scripted roles."""

import json
from collections.abc import Sequence

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.conversations.instruction_writing import write_instruction
from lawtrace.agents.conversations.rule_proposal import find_flaws, propose_rules, valid_rules
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.roles.rule_answers import Proposal, ProposedRule
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.schemas.choices import RoleName, Style
from lawtrace.schemas.log_entries import Context, MessageSent
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, Domain, load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import Trace
from tests.support.transcripts import Cast

SETTING = load_domain("banking")
RULES = load_rules(SETTING.rules_file)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return next(synthesize(SETTING.environment, RULES, count=1, length=8, seed=7))


async def write(trace: Trace, style: Style, cast: Cast, event_log: MemoryEventLog, domain: Domain = SETTING):
    return await write_instruction(
        domain.environment,
        trace,
        style,
        role_models=cast,
        context=Context(stage="tasks", role="instruction_generator", task="t1"),
        event_log=event_log,
        most_rounds=3,
    )


@pytest.mark.parametrize("style", ["goal", "workflow"])
@pytest.mark.parametrize(
    "world", [pytest.param(name, marks=[] if name == "banking" else pytest.mark.slow) for name in PAPER_DOMAINS]
)
async def test_offline_roles_agree_in_one_round(world: str, style: Style) -> None:
    """Seed 1 cancels an appointment and views reviews: "view" could be meant for the appointment, so no text passes."""
    domain = load_domain(world)
    rules = load_rules(domain.rules_file)
    for seed in range(2, 5):
        trace = next(synthesize(domain.environment, rules, count=1, length=8, seed=seed))
        written = await write(trace, style, Cast(), MemoryEventLog(), domain)
        assert (written.ending, written.rounds) == ("accepted", 1), seed


async def test_wrong_amount_is_rejected_before_the_evaluator(trace: Trace) -> None:
    def careless(messages: Sequence[LLMMessage]) -> str:
        reading = json.loads(OFFLINE_ROLES["independent_reader"](messages))
        return json.dumps({"calls": reading["calls"][:-1]})

    cast = Cast(independent_reader=careless)
    written = await write(trace, "workflow", cast, MemoryEventLog())
    assert written.ending == "reading"
    assert "masking_evaluator" not in cast.asked


async def test_generator_reads_objections(trace: Trace) -> None:
    def learning(messages: Sequence[LLMMessage]) -> str:
        if len(messages) == 2:
            return json.dumps({"text": "Do the usual."})
        assert "does not say" in str(messages[-1].content)
        return OFFLINE_ROLES["instruction_generator"](messages)

    written = await write(trace, "goal", Cast(instruction_generator=learning), MemoryEventLog())
    assert (written.ending, written.rounds) == ("accepted", 2)


async def test_evaluator_can_reject(trace: Trace) -> None:
    strict = json.dumps({"unambiguous": True, "masked": False, "objections": ["it smells of caution"]})
    written = await write(trace, "goal", Cast(masking_evaluator=lambda messages: strict), MemoryEventLog())
    assert (written.ending, written.rounds) == ("evaluator", 3)


@pytest.mark.parametrize("role", ["instruction_generator", "independent_reader", "masking_evaluator"])
@pytest.mark.parametrize("unusable", ["", "I would rather not.", '{"text": ', '{"wrong": "schema"}'])
async def test_unusable_answer_is_rejected_once(trace: Trace, role: RoleName, unusable: str) -> None:
    event_log = MemoryEventLog()

    def learning(messages: Sequence[LLMMessage]) -> str:
        told = str(messages[-1].content)
        if "cannot be used" not in told:
            return unusable
        assert messages[-2].content == unusable
        return OFFLINE_ROLES[role](messages[:-2])

    written = await write(trace, "goal", Cast(**{role: learning}), event_log)
    assert (written.ending, written.rounds) == ("accepted", 1)
    said = [entry for entry in event_log.entries if isinstance(entry, MessageSent)]
    place = next(number for number, line in enumerate(said) if line.source == "answer_check")
    assert (said[place - 1].source, said[place - 1].content) == (role, unusable)
    assert "cannot be used" in said[place].content
    assert said[place + 1].source == role
    assert [line.context.turn for line in said] == list(range(len(said)))


async def extract(cast: Cast, domain: Domain = SETTING):
    return await propose_rules(
        domain.environment,
        domain.regulation,
        role_models=cast,
        context=Context(stage="rules", role="policy_extractor"),
        event_log=MemoryEventLog(),
        most_rounds=3,
        inputs=dict.fromkeys(("regulation", "provisions", "others", "documentation"), "{}"),
        opening="Write the rules.",
    )


OTHERS = [{"citation": p.citation, "because": "not asked for"} for p in SETTING.regulation.provisions]


def proposal(formula: str, citation: str = "Article 97(1)(b)") -> str:
    return json.dumps({"rules": [rule("r1", formula) | {"citation": citation}], "not_checkable": OTHERS})


@pytest.mark.parametrize(
    ("formula", "citation", "why"),
    [
        ("!((!CheckAuthorization) U TransferMoney)", "Article 97(1)(b)", "TransferFunds"),
        ("!((!CheckAuthorization U", "Article 97(1)(b)", "line 1"),
        ("G(PayBill -> F[<= 1 month] PayBill)", "Article 97(1)(b)", "line 1"),
        ("forall p: G(PayBill(payee_id == p) -> F[<= 1h] !PayBill(amount == p))", "Article 97(1)(b)", "amount"),
        ("G(true)", "Article 97(1)(b)", "names no tool"),
        ("!((!CheckAuthorization) U PayBill)", "Article 999", "does not contain"),
    ],
)
async def test_signature_validator_drops_invalid_rules(formula: str, citation: str, why: str) -> None:
    cast = Cast(policy_extractor=lambda _: proposal(formula, citation), ltl_critic=lambda _: '{"objections": []}')
    extraction = await extract(cast)
    assert extraction.rules == ()
    assert why in extraction.refused[0].because
    assert cast.asked == {"policy_extractor": 3, "ltl_critic": 1}


def rule(name: str, formula: str) -> dict[str, str]:
    return {"id": name, "formula": formula, "citation": "Article 97(1)(b)"}


async def test_findings_reach_critic_and_extractor() -> None:
    """The first set has a conflict; after the objection, the extractor omits the conflicting rule."""
    check, contrary = "!((!CheckAuthorization) U PayBill)", "!((!PayBill) U CheckAuthorization)"
    heard: list[str] = []

    def learning(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        rules = [rule("check-first", check), rule("pay-first", contrary)]
        return json.dumps({"rules": rules if len(heard) == 1 else rules[:1], "not_checkable": OTHERS})

    def agreeing(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return json.dumps({"objections": []})

    cast = Cast(policy_extractor=learning, ltl_critic=agreeing)
    kept = [rule.id for rule in (await extract(cast)).rules]
    assert (kept, cast.asked["policy_extractor"]) == (["check-first"], 2)
    shown = json.loads(heard[1])
    assert [found["rule"] for found in shown["findings"]] == ["pay-first"]
    assert "Proved for" in shown["findings"][0]["because"]
    assert "pay-first" in heard[2]
    assert "Proved for" in heard[2]
    assert json.loads(heard[3])["findings"] == []


async def test_critic_is_told_sessions_and_definitions_reach_the_rules() -> None:
    """A formula may use the definitions of its proposal; the critic reads sessions that keep and break it."""
    told: list[str] = []
    definition = {"name": "checked", "formula": "O CheckAuthorization(result.authorized)", "means": "it was checked"}
    limited = {
        "rules": [rule("check-first", "G(PayBill -> checked)")],
        "definitions": [definition],
        "not_checkable": OTHERS,
    }

    def agreeing(messages: Sequence[LLMMessage]) -> str:
        told.append(str(messages[-1].content))
        return json.dumps({"objections": []})

    cast = Cast(policy_extractor=lambda messages: json.dumps(limited), ltl_critic=agreeing)
    (kept,) = (await extract(cast)).rules
    assert [one.name for one in kept.definitions] == ["checked"]
    (shown,) = json.loads(told[0])["examples"]
    assert shown["rule"] == "check-first"
    assert "the agent called CheckAuthorization(result.authorized)." in shown["kept"]
    assert "CheckAuthorization" not in shown["broken"]
    assert shown["broken"].endswith("the agent called PayBill.\nNothing more happened.")


@pytest.mark.parametrize(
    ("formulas", "blamed"),
    [
        (("!((!CheckAuthorization) U PayBill)", "G(PayBill -> F RecordAuditEvent)"), []),
        (("!((!RecordAuditEvent) U TransferFunds)", "!((!RecordAuditEvent) U PayBill)",
          "!((!RecordAuditEvent) U GetAccountStatement)"), ["r2"]),
        (("nonsense",), []),
    ],
)  # fmt: skip
def test_each_flaw_blames_one_rule(formulas: Sequence[str], blamed: list[str]) -> None:
    rules = tuple(
        ProposedRule(id=f"r{number}", formula=formula, citation="Article 97(1)(b)")
        for number, formula in enumerate(formulas)
    )
    valid = valid_rules(Proposal(rules=rules), SETTING.environment, SETTING.regulation)
    flaws = find_flaws(SETTING.environment, valid)
    assert [flaw.rule for flaw in flaws] == blamed
