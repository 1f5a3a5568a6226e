"""Precision and recall of rules against labels of a source and against marks of people."""

import json
from pathlib import Path

import pytest

from lawtrace.runs.audit.annotations import Annotations, read_annotations
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.labels import DEFAULT_CHOICE, LabelChoice, read_label_choice
from lawtrace.runs.audit.rates import ANY_RULE, RateTable, RuleRates
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.transcripts import RecordedMessage, Transcript
from lawtrace.runs.scoring.metrics import wilson_interval
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule
from tests.support.audited_payments import CHECKED, PAID, RECORDED, conversation, write_log, write_rules
from tests.support.shell import Shell

RULES = (
    Rule(id="checked", formula="!((!CheckAuthorization) U PayBill)"),
    Rule(id="recorded", formula="G(PayBill -> O RecordAuditEvent)"),
)
AUDITOR = TranscriptAuditor(load_domain("banking").environment, RULES, complete=True)
GOOD, UNCHECKED, NEITHER = (CHECKED, RECORDED, PAID), (RECORDED, PAID), (PAID,)


def row(name: str, calls: tuple[RecordedMessage, ...], place: str = "log", **labels: Json) -> AuditRow:
    return AUDITOR.audit(Transcript(place, name, calls, labels=labels))


def rates_of(
    rows: list[AuditRow], choice: LabelChoice = DEFAULT_CHOICE, annotations: Annotations | None = None
) -> list[RateTable]:
    """The rates, counted in two parts."""
    first, second = (AuditSummary([rule.id for rule in RULES], None, choice, annotations) for _ in range(2))
    for place, one in enumerate(rows):
        (first if 2 * place < len(rows) else second).add(one)
    first.tally.merge(second.tally)
    return first.rates


def label_table(rows: list[AuditRow], choice: str | None = None) -> RateTable | None:
    return next(iter(rates_of(rows, DEFAULT_CHOICE if choice is None else read_label_choice(choice))), None)


def by_rule(table: RateTable | None) -> dict[str, tuple[int, int, int | None]]:
    assert table is not None
    return {one.rule: (one.flagged, one.confirmed, one.bad) for one in table.rates}


def test_rewards_below_one_are_bad() -> None:
    rows = [row("1", GOOD, reward=1.0), row("2", UNCHECKED, reward=0.0), row("3", NEITHER, reward=0.5)]
    rows += [row("4", UNCHECKED, reward=1.0), row("5", GOOD, reward=0), row("6", UNCHECKED)]
    table = label_table(rows)
    assert by_rule(table) == {ANY_RULE: (3, 2, 3), "checked": (3, 2, 3), "recorded": (1, 1, 3)}
    assert table is not None
    assert table.sentences == (
        "3 of 5 conversations with the label reward are bad: a number below 1, false, or a word such as failed.",
    )
    checked = table.rates[1]
    assert (checked.precision, checked.recall) == (2 / 3, 2 / 3)
    assert checked.precision_interval == wilson_interval(2, 3)


@pytest.mark.parametrize(
    ("choice", "bad"),
    [
        (None, 1),  # success: false is bad
        ("success=false", 1),
        ("success == 0", 1),
        ("points<3", 2),
        ("points <= 3", 3),
        ("points!=1", 2),
        ("verdict=I", 1),
        ("verdict", 1),
        ("verdict!=C", 1),
    ],
)
def test_the_label_and_its_bad_values_are_chosen(choice: str | None, bad: int) -> None:
    rows = [
        row("1", GOOD, success=True, points=3, verdict="C"),
        row("2", UNCHECKED, success=False, points=1, verdict="I"),
        row("3", UNCHECKED, success=True, points=2, verdict="C"),
    ]
    table = label_table(rows, choice)
    if choice == "points <= 3":  # each is bad: nothing to compare
        assert table is not None
        assert not table.rates
        assert "each of 3 conversations is bad (points <= 3)" in table.sentences[0]
    else:
        assert table is not None
        assert table.rates[0].bad == bad


def test_a_label_that_says_nothing_is_told() -> None:
    assert label_table([row("1", GOOD)]) is None
    for rows, choice, words in (
        ([row("1", GOOD)], "grade", "no conversation has it"),
        ([row("1", NEITHER, reward=1)], None, "none of 1 conversations is bad"),
    ):
        table = label_table(rows, choice)
        assert table is not None
        assert not table.rates
        assert words in table.sentences[0]


@pytest.mark.parametrize("text", ["", "<1", "reward<", "reward<good", "reward===1"])
def test_a_wrong_choice_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="--label"):
        read_label_choice(text)


def mark_rates(path: Path, text: str, rows: list[AuditRow]) -> RateTable:
    path.write_text(text, encoding="utf-8")
    return rates_of(rows, annotations=read_annotations(path))[-1]


ROWS = [row("1", UNCHECKED), row("2", UNCHECKED), row("3", GOOD), row("4", NEITHER)]
WHOLE = """conversation,rule,call,mark,comment
1,checked,2,right,
2,checked,2,right,a slip
2,checked,2,wrong,seen again
3,checked,,wrong,
4,checked,1,right,
4,recorded,1,right,
"""


def test_recall_needs_a_mark_on_every_conversation(tmp_path: Path) -> None:
    table = mark_rates(tmp_path / "marks.csv", WHOLE, ROWS)
    assert by_rule(table) == {"all rules": (4, 3, None), "checked": (3, 2, 3), "recorded": (1, 1, None)}
    assert "Recall is known only of a rule for which every conversation is marked." in table.sentences
    assert RuleRates("checked", 3, 2, 3).recall == 2 / 3


def test_marks_that_fit_no_finding_are_left_out_and_counted(tmp_path: Path) -> None:
    marks = [
        {"conversation": "1", "rule": "checked", "call": 1, "mark": "right"},
        {"conversation": "9", "rule": "checked", "mark": "right"},
        {"conversation": "1", "rule": "chekced", "mark": "right"},
        {"conversation": "2", "rule": "checked", "mark": "right"},
        {"conversation": 2, "rule": "recorded", "place": "b", "mark": "right", "at": "today"},
    ]
    text = "".join(json.dumps(mark) + "\n" for mark in marks)
    table = mark_rates(tmp_path / "marks.jsonl", text, [*ROWS, row("2", NEITHER, place="b")])
    assert by_rule(table) == {"all rules": (1, 1, None), "recorded": (1, 1, None)}
    told = " ".join(table.sentences)
    for words in ("is on another call", "fits no conversation", "names no rule", "fits several conversations"):
        assert f"1 that {words}" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"conversation": "1", "rule": "a", "mark": "right"}\n{"conversation"', "line 2: not JSON"),
        ('{"conversation": "1", "rule": "a", "mark": "maybe"}', "line 1: "),
        ("conversation,mark\n1,right\n", "line 2: "),
    ],
)
def test_a_wrong_mark_is_named_by_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "marks"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_annotations(path)


def test_a_summary_has_the_rates() -> None:
    summary = AuditSummary(["checked", "recorded"], annotations=Annotations())
    for one in (row("1", GOOD, reward=1), row("2", NEITHER, reward=0)):
        summary.add(one)
    result = summary.as_json()
    label = result["label"]
    assert isinstance(label, dict)
    assert str(label["against"]).startswith("1 of 2 conversations with the label reward are bad: a number below 1")
    assert result["marks"] == {"against": "0 marks of people count.", "rates": {}}


def test_the_command_compares_with_labels_and_marks(lawtrace: Shell, tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "log.jsonl",
        conversation("1", "CheckAuthorization", "PayBill", success=True),
        conversation("2", "PayBill", success=False),
    )
    marks = tmp_path / "marks.jsonl"
    marks.write_text('{"conversation": "2", "rule": "checked", "call": 1, "mark": "right"}\n', encoding="utf-8")
    rules = write_rules(tmp_path / "rules.toml")
    words = ("audit", log, "--rules", rules, "--marks", marks, "--out", tmp_path / "a.jsonl", "--force")
    _, out, _ = lawtrace(*words, "--format", "html")
    text = " ".join(out.split())
    assert (
        "1 of 2 conversations with the label success are bad: a number below 1, false, or a word such as failed."
        in text
    )
    assert "checked 1 1 100.0 % (21–100) 100.0 % (21–100)" in text
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "1 mark of people counts." in page
    code, _, err = lawtrace(*words, "--label", "grade<a")
    assert (code, "'a' is no number" in err) == (2, True)
