"""Open questions of a rule set: whether their readings differ, and which findings concern no single interpretation."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from lawtrace.schemas.questions import Question
from lawtrace.solver.interpretations import are_compatible, question_groups
from lawtrace.solver.lint.findings import RuleFinding, Witness
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.explanations import join_names


def sort_by_interpretations(
    rules: Sequence[Rule], findings: Iterable[RuleFinding]
) -> tuple[list[RuleFinding], list[str]]:
    """The findings about rules that hold together under some interpretation, and sentences about the others.

    Of those that never hold together only a conflict matters: then no course is lawful under all readings.
    """
    groups, by_id = question_groups(rules), {rule.id: rule for rule in rules}
    kept: list[RuleFinding] = []
    sentences: list[str] = []
    for finding in findings:
        concerned = [by_id[name] for name in (*finding.rules, *finding.reasons)]
        if finding.kind == "undecided" or are_compatible(groups, concerned):
            kept.append(finding)
        elif finding.kind == "conflict":
            names = dict.fromkeys(name for rule in concerned for name in rule.under)
            sentences.append(f"No course is lawful under all readings of {join_names([*names])}: {finding.message}.")
    return kept, sentences


def find_unseparated_readings(
    rules: Sequence[Rule], breaking: Mapping[str, Witness], undecided: Collection[str]
) -> Iterator[RuleFinding]:
    """Two readings of a question that make no difference: no trace breaks just a rule that holds under one of them.

    `breaking`: for each rule that is needed a trace that breaks only it. `undecided`: rules for which that is open.
    """
    questions: dict[str, Question] = {one.id: one for rule in rules for one in rule.questions}
    for question in questions.values():
        of = {rule.id: rule.under[question.id] for rule in rules if question.id in rule.under}
        for one, other in combinations([reading.id for reading in question.readings], 2):
            differing = [name for name, readings in of.items() if (one in readings) != (other in readings)]
            if not any(name in breaking or name in undecided for name in differing):
                yield RuleFinding(
                    kind="unseparated",
                    rules=tuple(differing),
                    message=f"the readings {one!r} and {other!r} of {question.id!r} make no difference",
                    proof="no trace breaks a rule that holds under just one of them and keeps all other rules",
                )
