"""Independent formalizations with scripted models: objections, classes, questions, and what answers leave."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.conversations.formalization import Formalizing
from lawtrace.agents.conversations.formalized_group import FormalizedGroup, GivenJudgment, provision_groups, rules_of
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.schemas.choices import Feedback
from lawtrace.schemas.errors import NotRecorded
from lawtrace.schemas.log_entries import Context, MessageSent
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.separation.separation import Separator
from tests.support.transcripts import Cast, Script

BANKING = load_domain("banking").environment
BEFORE = "G(PayBill -> O CheckAuthorization(result.authorized))"
SAME = "!((!CheckAuthorization(result.authorized)) U PayBill)"
AFTER = "G(PayBill -> F CheckAuthorization(result.authorized))"
LAW = Regulation(
    id="LAW",
    title="On bills",
    source="nowhere",
    restated=False,
    provisions=(
        Provision(citation="Article 1(1)", text="A bank checks the authorization before it pays a bill."),
        Provision(citation="Article 1(2)", text="A bill is a demand for money."),
        Provision(citation="Article 2", text="Fees are fair."),
    ),
)


def written(*formulas: str) -> dict[str, Any]:
    rules = [{"id": f"r{n}", "formula": formula, "citation": "Article 1(1)"} for n, formula in enumerate(formulas, 1)]
    return {"rules": rules, "not_checkable": [{"citation": "Article 1(2)", "because": "it is a definition"}]}


def writing(*formulas: str) -> Script:
    return lambda messages: json.dumps(written(*formulas))


def revising(first: str, then: str) -> Script:
    """An author of rules who writes another one after a judged session, or an objection."""

    def write(messages: Sequence[LLMMessage]) -> str:
        heard = str(messages[-1].content)
        return json.dumps(written(then if "judged otherwise" in heard or "Objections" in heard else first))

    return write


def judging(verdict: str, words: str = "before it pays a bill") -> Script:
    return lambda messages: json.dumps({"verdict": verdict, "words": words, "because": "the order"})


async def formalize(
    models: Mapping[str, Script],
    judges: Mapping[str, Script] | None = None,
    answers: Sequence[GivenJudgment] = (),
    event_log: MemoryEventLog | None = None,
    feedback: Feedback = "traces",
    critic: Script = lambda _: '{"objections": []}',
    recorded: Callable[[Context], str | None] = lambda place: None,
) -> FormalizedGroup:
    casts: dict[str, Callable[[str], Cast]] = {}
    for name, script in {**models, **(judges or {})}.items():
        casts[f"openai:{name}"] = lambda model, script=script: Cast(
            {"policy_extractor": script, "annotator": script, "ltl_critic": critic}, model
        )
    (group,) = await Formalizing(
        environment=BANKING,
        regulation=LAW,
        models_of=lambda spec: casts[str(spec)](str(spec)),
        formalizers=[ModelSpec.parse(f"openai:{name}") for name in models],
        annotators=[ModelSpec.parse(f"openai:{name}") for name in judges or ()],
        answers=answers,
        context=Context(stage="rules", role="policy_extractor"),
        event_log=event_log or MemoryEventLog(),
        rounds=2,
        feedback=feedback,
        recorded=recorded,
    ).groups({"Article 1": provision_groups(LAW)["Article 1"]})
    return group


def test_groups_are_articles_or_what_is_named() -> None:
    groups = {name: [p.citation for p in several] for name, several in provision_groups(LAW).items()}
    assert groups == {"Article 1": ["Article 1(1)", "Article 1(2)"], "Article 2": ["Article 2"]}
    assert [*provision_groups(LAW, ["Article 1(2)", "Article 2"])] == ["Article 1(2), Article 2"]


async def test_equal_rules_are_one_class_however_they_are_written() -> None:
    group = await formalize({"one": writing(BEFORE), "two": writing(SAME)}, {"judge": judging("unlawful")})
    assert group.classes == (("A", "B"),)
    assert [one.relation for one in group.comparisons] == ["equal"]
    assert (group.determinacy, [rule.id for rule in group.rules]) == ("agreed", ["A.r1"])
    (session,) = group.sessions  # all forbid it
    assert session.outcomes == {"A": "broken"}


async def test_a_recording_that_ends_before_the_critic_answers_leaves_what_was_written() -> None:
    def ended(messages: Sequence[LLMMessage]) -> str:
        raise NotRecorded("no recorded answer")

    group = await formalize({"one": writing(BEFORE), "two": writing(SAME)}, critic=ended)
    assert [(one.failure, len(one.rules)) for one in group.formalizations] == [(None, 1), (None, 1)]
    with pytest.raises(NotRecorded):  # not even the first answer
        await formalize({"one": ended})


async def test_recorded_sessions_are_taken_while_they_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(place: Context) -> str | None:
        return next(one.content for one in log.entries if isinstance(one, MessageSent) and one.context == place)

    authors, judges = {"one": writing(BEFORE), "two": writing(AFTER)}, {"judge": judging("unlawful")}
    found = await formalize(authors, judges, event_log=(log := MemoryEventLog()))
    with monkeypatch.context() as patch:
        patch.delattr(Separator, "separate")
        assert (await formalize(authors, judges, recorded=said)).sessions == found.sessions
    stale = '{"events": [], "end": 0}'  # all keep it
    assert (await formalize(authors, judges, recorded=lambda place: stale)).sessions == found.sessions


@pytest.mark.parametrize(
    ("verdicts", "determinacy", "left"),
    [
        (("unlawful",), "settled", ("A",)),
        (("arguable",), "contested", ("A", "B")),
        (("unlawful", "lawful"), "contested", ("A", "B")),
        (("not understood",), "not understood", ("A", "B")),
        ((), "open", ("A", "B")),
    ],
)
async def test_a_separating_session_is_told_and_answers_decide(
    verdicts: Sequence[str], determinacy: str, left: Sequence[str]
) -> None:
    judges = {f"judge{number}": judging(verdict) for number, verdict in enumerate(verdicts)}
    group = await formalize({"one": writing(BEFORE), "two": writing(AFTER)}, judges)
    assert group.classes == (("A",), ("B",))
    separating = group.sessions[0]
    assert {*separating.outcomes.values()} == {"kept", "broken"}
    assert "Nothing more happened until the session ended" in separating.told
    assert "LAW" not in separating.told
    if verdicts == ("unlawful",):  # which of the two breaks it decides who is left
        left = tuple(name for name, outcome in separating.outcomes.items() if outcome == "broken")
    assert (group.determinacy, group.left) == (determinacy, tuple(left))
    assert {name for rule in group.rules for name in rule.under.values()} == (
        {("A",), ("B",)} if determinacy in {"contested", "open", "not understood"} else set()
    )


async def test_what_all_say_stands_under_no_reading() -> None:
    also = "G(PayBill -> !Y O PayBill)"
    group = await formalize({"one": writing(BEFORE, also), "two": writing(AFTER, also)}, {"judge": judging("arguable")})
    assert (group.determinacy, group.common) == ("contested", ("A.r2", "B.r2"))
    assert {rule.id: [*rule.under.values()] for rule in group.rules} == {
        "A.r1": [("A",)],
        "A.r2": [],
        "B.r1": [("B",)],
        "B.r2": [],
    }
    assert [rule.id for rule in rules_of([group])] == ["A.r2", "A.r1", "B.r1"]


async def test_a_person_answers_and_all_may_be_wrong() -> None:
    first = await formalize({"one": writing(BEFORE), "two": writing(SAME)})
    (session,) = first.sessions
    answer = GivenJudgment(session=session.id, verdict="lawful", by="Ann")
    group = await formalize({"one": writing(BEFORE), "two": writing(SAME)}, answers=[answer])
    assert group.sessions[0].judgments == (answer,)
    assert (group.determinacy, group.left, group.rules) == ("fits no class", (), ())


async def test_formulas_that_do_not_parse_go_back_with_the_place() -> None:
    heard: list[str] = []

    def learning(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return json.dumps(written("G(PayBill(amount = 3) -> true)")) if len(heard) == 1 else writing(BEFORE)(messages)

    group = await formalize({"one": learning, "two": writing(BEFORE, "G(NoSuchTool -> true)")})
    assert "line 1, column 18" in heard[1]
    assert group.formalizations[0].refused == ()
    (refused,) = group.formalizations[1].refused
    assert (refused.rule, "NoSuchTool" in refused.because) == ("r2", True)
    assert group.classes == (("A", "B"),)


async def test_unread_provisions_and_wrong_words_are_sent_back() -> None:
    heard: list[str] = []

    def careless(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return json.dumps({"rules": written(BEFORE)["rules"]})

    asked: list[str] = []

    def misquoting(messages: Sequence[LLMMessage]) -> str:
        asked.append(str(messages[-1].content))
        return judging("unlawful", "as it likes" if len(asked) == 1 else "before it pays a bill")(messages)

    group = await formalize({"one": careless, "two": writing(BEFORE)}, {"judge": misquoting})
    assert "Article 1(2): write a rule" in heard[1]
    assert "words of a provision" in asked[1]
    assert group.sessions[0].judgments[0].words == "before it pays a bill"


async def test_no_formalizer_sees_another_and_a_judge_sees_no_rule() -> None:
    sent: list[str] = []

    def noting(script: Script) -> Script:
        def answer(messages: Sequence[LLMMessage]) -> str:
            sent.append("\n".join(str(message.content) for message in messages))
            return script(messages)

        return answer

    both, judge = {"one": writing(BEFORE), "two": noting(writing(AFTER))}, {"judge": noting(judging("lawful"))}
    await formalize(both, judge, feedback="prose")
    assert len(sent) >= 2
    assert all(BEFORE not in text for text in sent)
    assert all(AFTER not in text for text in sent)


async def test_who_is_refuted_sees_the_session_and_writes_again() -> None:
    """Which of the two keeps the separating session decides who is wrong when it is judged unlawful."""
    both = {"one": revising(AFTER, BEFORE), "two": revising(BEFORE, AFTER)}
    group = await formalize(both, {"judge": judging("unlawful")})
    revised = [one for one in group.formalizations if one.revised]
    assert [(len(revised), group.classes, group.determinacy)] == [(1, (("A", "B"),), "agreed")]
    assert any(one.judgments for one in group.sessions)
    silent = await formalize(both, {"judge": judging("unlawful")}, feedback="prose")
    assert (silent.classes, silent.determinacy) == ((("A",), ("B",)), "settled")
    assert not any(one.revised for one in silent.formalizations)


@pytest.mark.parametrize(("feedback", "asked"), [("none", 0), ("prose", 1), ("traces", 1)])
async def test_the_critic_sees_sessions_only_with_traces(feedback: Feedback, asked: int) -> None:
    heard: list[str] = []

    def critic(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return '{"objections": []}'

    group = await formalize({"one": writing(BEFORE)}, feedback=feedback, critic=critic)
    assert (group.determinacy, len(group.rules), len(heard)) == ("one formalizer", 1, asked)
    assert all((json.loads(text)["examples"] != []) == (feedback == "traces") for text in heard)


async def test_a_rule_to_which_a_critic_objects_stays_and_one_that_code_refuses_does_not() -> None:
    objecting = '{"objections": [{"rule": "r1", "because": "the order is wrong"}]}'
    group = await formalize({"one": writing(AFTER, "G(Pay ->", BEFORE)}, critic=lambda _: objecting)
    assert [rule.id for rule in group.rules] == ["r1", "r3"]
    (by,) = group.formalizations
    assert [(one.rule, one.because) for one in by.disputed] == [("r1", "the order is wrong")]
    assert [one.rule for one in by.refused] == ["r2"]


async def test_rules_of_all_groups_are_merged_by_proof() -> None:
    one = await formalize({"one": writing(BEFORE, SAME)})
    two = await formalize({"one": writing("G(PayBill -> O CheckAuthorization)")})
    assert [rule.id for rule in rules_of([one, two])] == ["r1"]


async def test_one_usable_answer_is_not_enough() -> None:
    group = await formalize({"one": writing(BEFORE), "two": lambda messages: "I would rather not."})
    assert (group.determinacy, group.classes) == ("not read", ())
    assert group.formalizations[1].failure
