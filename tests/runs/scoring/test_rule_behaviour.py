"""Behavioural scores: on sessions of the bank, which rule sets judge without regard to how they are written."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from lawtrace.agents.conversations.formalized_group import FormalizedGroup, FormalizerResult
from lawtrace.environments.regulations.regulation import article_of
from lawtrace.runs.scoring.rule_behaviour import BehaviourScore, JudgedSet, cites, score_behaviour
from lawtrace.runs.scoring.session_bank import BankSession, make_sessions
from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule
from tests.support.shell import Shell

BANKING = load_domain("banking").environment
TASKS = Path(__file__).parents[3] / "docs/tasks/1.3/banking.jsonl"
LATE, SOON = "G(PayBill -> F RecordAuditEvent)", "G(PayBill -> F[<= 10min] RecordAuditEvent)"
FIRST = "!((!CheckAuthorization) U PayBill)"
QUESTION = Question(
    id="when",
    provisions=("Article 2",),
    asks="When?",
    readings=(Reading(id="soon", means="soon", basis="a"), Reading(id="ever", means="some time", basis="b")),
)


def rule(name: str, formula: str, provision: str = "Article 2(1)", reading: str = "") -> Rule:
    under = {"when": (reading,)} if reading else {}
    return Rule(
        id=name, formula=formula, provisions=(provision,), under=under, questions=(QUESTION,) if reading else ()
    )


GOLD = (rule("first", FIRST, "Article 1"), rule("record", SOON))


@lru_cache
def bank(gold: tuple[Rule, ...] = GOLD) -> tuple[BankSession, ...]:
    return make_sessions(BANKING, gold, gold, count=4, seed=1)


def scored(rules: Sequence[Rule], gold: tuple[Rule, ...] = GOLD) -> BehaviourScore:
    sessions = bank(gold)
    return score_behaviour(BANKING, JudgedSet(rules, sessions), JudgedSet(gold, sessions), sessions)


def test_the_same_seed_gives_the_same_sessions_and_references_are_lawful() -> None:
    assert make_sessions(BANKING, GOLD, GOLD, count=4, seed=1) == bank()
    kinds = {session.kind for session in bank()}
    assert kinds == {"reference", "mutant", "breach", "random"}
    breaks = JudgedSet(GOLD, bank()).breaks()
    assert not any(session.kind == "reference" and breaks >> place & 1 for place, session in enumerate(bank()))


def test_written_form_never_counts() -> None:
    found = scored([rule("a", "CheckAuthorization R !PayBill"), rule("b", "G(!PayBill | F[<= 600s] RecordAuditEvent)")])
    assert found.different.count == 0
    shares = (found.references, found.mutants, found.breaches, found.random_kept, found.random_broken)
    assert all(share.rate == 1 for share in shares)
    assert (found.false_alarms.count, found.too_strict) == (0, ())
    assert [(one.group, one.gold, one.caught.rate) for one in found.groups] == [
        ("Article 1", 1, 1),
        ("Article 2", 1, 1),
    ]


def is_late(events: Sequence[Event]) -> bool:
    """Whether a bill is recorded, but after the ten minutes, and all are recorded and authorized."""
    record = [event.time or 0 for event in events if event.tool == "RecordAuditEvent" and event.completed]
    paid = [event.time or 0 for event in events if event.tool == "PayBill" and event.completed]
    return any(not any(time <= at <= time + 600 for at in record) and any(at > time for at in record) for time in paid)


def test_a_dropped_deadline_misses_what_exceeds_it() -> None:
    ours, theirs = JudgedSet([GOLD[0], rule("record", LATE)], bank()), JudgedSet(GOLD, bank())
    missed = [one for place, one in enumerate(bank()) if (theirs.breaks() & ~ours.breaks()) >> place & 1]
    assert {"mutant"} <= {one.kind for one in missed}
    assert all(is_late(one.events) for one in missed)
    found = score_behaviour(BANKING, ours, theirs, bank())
    assert found.references.rate == 1
    assert found.mutants.of - found.mutants.count == sum(one.kind == "mutant" for one in missed)
    first, record = found.by_rule
    assert (first.caught.rate, first.missed) == (1, None)
    assert record.missed is not None
    assert record.missed.breaks == ("record",)
    assert "the agent called RecordAuditEvent" in record.missed.told


def test_a_rule_that_is_too_strict_breaks_references() -> None:
    found = scored([*GOLD, rule("never", "G !PayBill")])
    assert found.references.count < found.references.of
    assert found.mutants.rate == 1
    assert found.false_alarms.count > 0
    assert (found.too_strict[0].kind, found.too_strict[0].breaks) == ("reference", ("never",))


def test_messages_and_sums() -> None:
    gold = (rule("asked", 'G(PayBill -> O user("yes please"))'), rule("sum", "G(sum(amount of PayBill) <= 100)"))
    assert scored(gold, gold).different.count == 0
    found = scored(gold[1:], gold)
    assert found.by_rule[0].caught.of > found.by_rule[0].caught.count
    assert found.by_rule[1].caught.of == found.by_rule[1].caught.count > 0
    assert any(event.tool == "user" for session in bank(gold) for event in session.events)


@pytest.mark.parametrize(("formula", "reading"), [(SOON, "soon"), (LATE, "ever")])
def test_the_readings_that_fit_best_are_taken(formula: str, reading: str) -> None:
    gold = (rule("soon", SOON, reading="soon"), rule("ever", LATE, reading="ever"))
    found = scored([rule("mine", formula)], gold)
    assert (found.different.count, found.gold_readings, found.gold) == (0, {"when": reading}, 1)
    other = scored(gold, (rule("gold", formula),))
    assert (other.different.count, other.readings) == (0, {"when": reading})


def test_citations() -> None:
    found = [article_of(one) for one in ("§ 164.402 (breach)", "Article 97(1)(a)", "Annex I, Part I, (2)(d)")]
    assert found == ["§ 164.402", "Article 97", "Annex I, Part I"]
    mine = rule("r", SOON, "Article 97(1)")
    assert [cites(mine, [one]) for one in ("Article 9", "Article 97", "Article 97(1)")] == [False, True, True]


def test_the_command_says_what_the_determinacy_of_a_group_was_worth(lawtrace: Shell, tmp_path: Path) -> None:
    written = [
        FormalizerResult(name=name, model="m", rules=(rule(f"{name}.record", LATE, "Article 72(1)"),)) for name in "AB"
    ]
    group = FormalizedGroup(
        group="Article 72",
        environment="banking",
        regulation="",
        provisions={"Article 72(1)": "", "Article 97(1)(a)": ""},
        formalizations=tuple(written),
        left=("A",),
        determinacy="agreed",
    )
    open_ = group.model_copy(update={"group": "Article 97", "determinacy": "fits no class"})
    FORMALIZED.write(tmp_path / "r.formalized.jsonl", [group, open_])
    found = lawtrace.json("rules", "evaluate", "r.formalized.jsonl", "--count", 2)
    assert [one["name"] for one in found["sets"]] == [f"r.formalized.jsonl, {name}" for name in ("A", "B", "result")]
    assert found["provisions"] == ["Article 72(1)", "Article 97(1)(a)"]
    agreed, unfit = found["groups"]
    assert (agreed["questions"], unfit["score"]) == (0, None)
    assert agreed["score"]["different"] == found["sets"][2]["different"]


def test_the_command_compares_with_curated_and_other_rules(lawtrace: Shell, tmp_path: Path) -> None:
    lines = [json.dumps({"id": one.id, "formula": one.formula, "provisions": one.provisions}) for one in GOLD]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines))
    (tmp_path / "late.toml").write_text(f'[[rules]]\nid = "late"\nformula = "{LATE}"\nprovisions = ["Article 2"]\n')
    small = ("--count", 2)
    found = lawtrace.json("rules", "evaluate", "gold.jsonl", "late.toml", "--gold", "gold.jsonl", *small)
    own, late = found["sets"]
    assert own["different"]["count"] == 0
    assert late["by_rule"][0]["missed"]["breaks"] == ["first"]
    part = lawtrace.json("rules", "evaluate", "late.toml", "--gold", "gold.jsonl", "--tasks", TASKS, *small)
    assert (part["provisions"], part["sessions"]["reference"], part["sets"][0]["gold"]) == (["Article 2"], 2, 1)
    code, out, _ = lawtrace("rules", "evaluate", "late.toml", "--gold", "gold.jsonl", *small)
    assert (code, "Kept, and broken by the gold rules record" in " ".join(out.split())) == (0, True)
    code, _, err = lawtrace("rules", "evaluate", "late.toml")
    assert (code, "no gold rule of the law is about Article 2" in " ".join(err.split())) == (2, True)
