"""Rule extraction step by step, with scripted roles."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.conversations.provenance import ExtractionProvenance
from lawtrace.agents.conversations.request_sizes import PROVISIONS_PER_REQUEST
from lawtrace.agents.conversations.rule_extraction import extract_rules
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES
from lawtrace.agents.scripted.prompt_blocks import labelled_json, last_user_message
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.schemas.choices import RoleName
from lawtrace.schemas.findings import ExtractionFunnel
from lawtrace.schemas.log_entries import Context
from tests.support.transcripts import Cast, Script

BANKING = load_domain("banking").environment

LAW = {
    "Article 1": "A bank must check the authorization before it transfers funds.",
    "Article 2": "No funds may be transferred unless the authorization was checked.",
    "Article 3": "Every transfer of funds must afterwards be recorded in the audit log.",
    "Article 4": "Member States shall lay down penalties.",
    "Article 5": "Interest shall be fair.",
}


def law(texts: Mapping[str, str] = LAW) -> Regulation:
    provisions = tuple(Provision(citation=citation, text=text) for citation, text in texts.items())
    return Regulation(id="LAW", title="On banks", source="nowhere", restated=False, provisions=provisions)


def aligned(messages: Sequence[LLMMessage]) -> str:
    decisions = [
        {"citation": p["citation"], "concerns": p["citation"] < "Article 4", "because": "the tools do not set prices"}
        for p in labelled_json(messages, "provisions")
    ]
    return json.dumps({"decisions": decisions})


def refined(messages: Sequence[LLMMessage]) -> str:
    shapes = {
        "Article 1": ("before", "must check the authorization before it transfers funds"),
        "Article 2": ("before", "No funds may be transferred unless the authorization was checked"),
        "Article 3": ("after", "must afterwards be recorded"),
    }
    obligations = [
        {"citation": c, "quote": quote, "statement": quote, "order": order, "first": "one", "second": "two"}
        for c, (order, quote) in shapes.items()
        if c in {p["citation"] for p in labelled_json(messages, "provisions")}
    ]
    return json.dumps({"obligations": obligations})


def mapped(messages: Sequence[LLMMessage]) -> str:
    sides = {"before": ("CheckAuthorization", "TransferFunds"), "after": ("TransferFunds", "RecordAuditEvent")}
    return json.dumps(
        {
            "mapped": [
                {"obligation": one["obligation"], "first": [sides[one["order"]][0]], "second": [sides[one["order"]][1]]}
                for one in labelled_json(messages, "obligations")
            ]
        }
    )


SCRIPTS: dict[str, Script] = {"scope_aligner": aligned, "verifiability_refiner": refined, "tool_mapper": mapped}


async def draw(
    cast: Cast, regulation: Regulation | None = None, event_log: MemoryEventLog | None = None
) -> ExtractionProvenance:
    return await extract_rules(
        BANKING,
        regulation or law(),
        role_models=cast,
        context=Context(stage="rules", role="policy_extractor"),
        event_log=event_log or MemoryEventLog(),
        most_rounds=2,
    )


def fates(settled: ExtractionProvenance) -> dict[str, str]:
    return {provision.citation: provision.fate.fate for provision in settled.provisions}


async def test_every_provision_has_a_status_and_every_rule_a_history() -> None:
    settled = await draw(Cast(**SCRIPTS))
    assert {rule.formula: rule.provisions for rule in settled.accepted} == {
        "!((!CheckAuthorization) U TransferFunds)": ("Article 1", "Article 2"),
        "G(TransferFunds -> F RecordAuditEvent)": ("Article 3",),
    }
    assert list(fates(settled).values()) == ["rule", "rule", "rule", "out_of_scope", "out_of_scope"]
    assert settled.provisions[3].fate.because == "the tools do not set prices"
    provenance = settled.rules[0]
    assert (provenance.quotes[0].words, provenance.quotes[0].checked) == (
        "A bank must check the authorization before it transfers funds.",
        True,
    )
    assert {"scope_aligner", "verifiability_refiner", "tool_mapper", "policy_extractor", "ltl_critic"} <= {
        message.role for message in settled.pieces[0].messages if message.prompt_hash
    }
    assert settled.funnel == ExtractionFunnel(
        provisions=5, in_scope=3, refined=3, candidates=3, valid=3, distinct=2, accepted=2
    )


async def test_merged_duplicate_adds_its_provision() -> None:
    settled = await draw(Cast(**SCRIPTS))
    merged = [provenance for provenance in settled.rules if provenance.status == "merged"]
    assert [(provenance.rule.provisions, provenance.into) for provenance in merged] == [
        (("Article 2",), ("checkauthorization-before-transferfunds",))
    ]
    assert merged[0].because.startswith("proved equivalent")


@pytest.mark.parametrize(
    ("role", "answer", "heard"),
    [
        (
            "tool_mapper",
            {
                "mapped": [
                    {"obligation": n, "first": ["CheckAuthorisation"], "second": ["TransferFunds"]} for n in (1, 2, 3)
                ]
            },
            "did you mean 'CheckAuthorization'?",
        ),
        (
            "verifiability_refiner",
            {"obligations": [{"citation": "Article 1", "quote": "must always pay", "statement": "", "order": "other"}]},
            "does not contain the quoted words",
        ),
        ("scope_aligner", {"decisions": []}, "times, not once"),
    ],
)
async def test_objections_of_code_reach_the_role(role: str, answer: Any, heard: str) -> None:
    said: list[str] = []

    def stubborn(messages: Sequence[LLMMessage]) -> str:
        said.append(last_user_message(messages))
        return json.dumps(answer) if len(said) == 1 else SCRIPTS[role](messages)

    settled = await draw(Cast(**{**SCRIPTS, role: stubborn}))
    assert heard in said[1]
    assert len(settled.accepted) == 2


async def test_rule_in_the_full_language_is_accepted() -> None:
    formula = "G(TransferFunds(amount > 1000) -> O CheckAuthorization)"
    rule = {"id": "large", "formula": formula, "citation": "Article 1", "quote": "must check the authorization"}
    text = "A bank must check the authorization before it transfers funds of more than 1,000 euro."
    large = Cast(**SCRIPTS, policy_extractor=lambda messages: json.dumps({"rules": [rule]}))
    settled = await draw(large, law({**LAW, "Article 1": text}))
    assert [(kept.formula, kept.template) for kept in settled.accepted] == [(formula, "general")]


@pytest.mark.parametrize(
    ("role", "answer"),
    [
        ("scope_aligner", "I would rather talk."),
        ("verifiability_refiner", '{"decisions": [{"citation"'),
        ("tool_mapper", "I would rather talk."),
        ("policy_extractor", '{"decisions": [{"citation"'),
    ],
)
async def test_unusable_answer_affects_one_batch(role: RoleName, answer: str) -> None:
    count = PROVISIONS_PER_REQUEST
    texts = {f"Article 0{n}" if n < 10 else f"Article {n}": LAW["Article 1"] for n in range(1, 2 * count + 1)}

    def failing(messages: Sequence[LLMMessage]) -> str:
        first_piece = '"Article 01"' in str(messages[0].content)
        return answer if first_piece else OFFLINE_ROLES[role](messages)

    settled = await draw(Cast(**{role: failing}), law(texts))
    states = list(fates(settled).values())
    assert set(states[:count]) == {"unread"}
    assert set(states[count:]) == {"rule"}
    assert "broke off" in settled.provisions[0].fate.because
    assert [rule.formula for rule in settled.accepted] == ["!((!CheckAuthorization) U TransferFunds)"]
    assert len(settled.accepted[0].provisions) == count


def proposing(*formulas: str) -> Script:
    rules = [{"id": f"r{n}", "formula": formula, "citation": "Article 1"} for n, formula in enumerate(formulas, 1)]
    return lambda messages: json.dumps({"rules": rules})


@pytest.mark.slow
async def test_too_large_formula_invalidates_one_rule() -> None:
    large = f"F(TransferFunds & {'X ' * 22}PayBill)"
    settled = await draw(Cast(**SCRIPTS, policy_extractor=proposing(large, "!((!CheckAuthorization) U TransferFunds)")))
    assert [rule.id for rule in settled.accepted] == ["r2"]
    (invalid,) = [provenance for provenance in settled.rules if provenance.status == "invalid"]
    assert "rule 'r1': the formula mixes too many alternatives" in invalid.because


async def test_weaker_rule_is_kept_when_the_stronger_is_dropped() -> None:
    other = "!((!TransferFunds) U CheckAuthorization)"
    more, less = "!((!CheckAuthorization) U (PayBill | TransferFunds))", "!((!CheckAuthorization) U PayBill)"
    texts = {f"Article {n:02}": LAW["Article 1"] for n in range(1, PROVISIONS_PER_REQUEST + 2)}

    def by_piece(messages: Sequence[LLMMessage]) -> str:
        citation = labelled_json(messages, "provisions")[0]["citation"]
        formulas = (other,) if citation == "Article 01" else (more, less)
        rules = [{"id": formula, "formula": formula, "citation": citation} for formula in formulas]
        return json.dumps({"rules": rules})

    agreeing = Cast(policy_extractor=by_piece, ltl_critic=lambda messages: '{"objections": []}')
    settled = await draw(agreeing, law(texts))
    assert {provenance.rule.formula: provenance.status for provenance in settled.rules} == {
        other: "accepted",
        more: "dropped",
        less: "accepted",
    }
