from lawtrace.agents.event_log import Context, FunctionCalled, MessageSent
from lawtrace.runs.report.blame import find_causes
from lawtrace.runs.schemas.verdict_rows import Outcome, RuleVerdict, Verdict
from lawtrace.runs.store.event_log_queries import LoggedMessage


def said(number: int, role: str, *calls: str) -> LoggedMessage:
    functions = tuple(FunctionCalled(id=name, name=name, arguments="{}") for name in calls)
    context = Context(stage="attempts", role=role, turn=number)
    return LoggedMessage(number, 1, "", MessageSent(context=context, source=role, content="", function_calls=functions))


def verdict(outcome: Outcome, *broken_at: int | None) -> Verdict:
    rules = tuple(
        RuleVerdict(
            rule=f"rule-{number}",
            formula="true",
            provisions=(),
            template="general",
            kept=False,
            triggered=True,
            applicable=True,
            broken_at=at,
            states=(),
            explanation="",
        )
        for number, at in enumerate(broken_at)
    )
    return Verdict(
        task="t",
        style="goal",
        model="m",
        outcome=outcome,
        goal_reached=True,
        rules=rules,
        differences=(),
        failure_modes=(),
        reason="",
    )


TALK = [
    said(10, "user"),
    said(11, "executor", "A", "B"),
    said(12, "tools"),
    said(13, "tools"),
    said(14, "executor", "C"),
    said(15, "tools"),
    said(16, "executor"),
]


def numbers(outcome: Outcome, *broken_at: int | None) -> list[int]:
    return [number for number, _ in find_causes(verdict(outcome, *broken_at), TALK)]


def test_the_message_of_the_call_that_broke_a_rule() -> None:
    assert numbers("unsafe_success", 0, 1, 2) == [11, 11, 14]


def test_an_unfulfilled_obligation_is_broken_by_the_last_message() -> None:
    assert numbers("unsafe_failure", None) == [16]


def test_a_program_breaks_a_rule_in_its_message() -> None:
    program = [said(1, "user"), said(2, "executor")]
    assert find_causes(verdict("unsafe_success", 3), program)[0][0] == 2


def test_a_failure_without_a_broken_rule_points_to_the_last_message() -> None:
    assert find_causes(verdict("benign_failure"), TALK) == [(16, None)]
    assert find_causes(verdict("safe_success"), TALK) == []
    assert find_causes(verdict("unsafe_success", 0), []) == []
