"""Files of texts: skeletons, stale entries, and texts that are alike."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.stages.human_texts import asked_requests, check_texts, require_texts
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.text_file import read_texts, skeleton, texts_file, unwrapped
from lawtrace.runs.tasks import trace_row
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import Contrast, TraceRow
from lawtrace.solver.masking.requests import AskedRequest
from lawtrace.solver.traces import Trace
from tests.support.asked_requests import CANCELLATION, PAYMENT
from tests.support.shell import Shell

REQUESTS = {"pay": PAYMENT, "cancel": CANCELLATION}
TEXTS = f"""
environment = "payments"

[pay]
asked = "{PAYMENT.fingerprint}"
goal = '''
The brakes are done. Please see to it that
Osier Street Garage gets its €85.40 from my rainy-day pot.
'''
workflow = '''
Go to my rainy-day pot and look for Osier Street Garage, then send them 85.40 euros.
'''

[cancel]
asked = "{CANCELLATION.fingerprint}"
goal = "Stop the money for the flat, please: the rent for Alder Court."
workflow = '''
1. Find the rent for Alder Court.
2. Cancel it.
'''
"""


def write(tmp_path: Path, text: str = TEXTS) -> Path:
    file = tmp_path / "payments.texts.toml"
    file.write_text(text, encoding="utf-8")
    return file


def found(tmp_path: Path, text: str, requests: dict[str, AskedRequest] = REQUESTS) -> list[tuple[str, str | None, str]]:
    return [
        (one.entry, one.style, str(one.finding)) for one in check_texts(requests, read_texts(write(tmp_path, text)))
    ]


def test_good_texts_have_no_findings_and_become_instructions(tmp_path: Path) -> None:
    assert found(tmp_path, TEXTS) == []
    pair = read_texts(write(tmp_path)).pairs["pay"]
    instruction = pair.instruction("goal")
    assert instruction.text == (
        "The brakes are done. Please see to it that Osier Street Garage gets its €85.40 from my rainy-day pot."
    )
    assert json.loads(instruction.model_dump_json()) == {
        "style": "goal",
        "text": instruction.text,
        "variables": {},
        "written": "by hand",
        "says": {},
    }


def test_line_breaks_count_between_paragraphs_and_items_only() -> None:
    assert unwrapped("\nFirst\nline.\n\nSecond.\n- one\n  more\n- two\n1. three\n") == (
        "First line.\n\nSecond.\n- one more\n- two\n1. three"
    )


def test_a_skeleton_says_what_to_write_and_has_no_text_yet(tmp_path: Path) -> None:
    text = skeleton("payments", REQUESTS)
    assert "# 1. FindAccount(nickname = 'rainy-day pot') -> account AC-1352 (rainy-day pot, EX74 7915 9318)" in text
    assert (
        "# Must not be revealed: payments to the payee forbidden, which is 'none' here and 'frozen, may be told'"
        in text
    )
    assert all(len(line) <= 120 for line in text.splitlines())
    assert found(tmp_path, text) == [(name, None, "complete: no text yet") for name in REQUESTS]


def test_a_skeleton_quotes_ids_that_have_other_characters(tmp_path: Path) -> None:
    requests = {"set-1.0-001": PAYMENT}
    assert found(tmp_path, skeleton("payments", requests), requests) == [("set-1.0-001", None, "complete: no text yet")]


def test_a_stale_entry_is_named_with_its_remedy(tmp_path: Path) -> None:
    other = {"pay": replace(PAYMENT, secret=None), "cancel": CANCELLATION}
    ((entry, style, detail),) = found(tmp_path, TEXTS, other)
    assert (entry, style) == ("pay", None)
    assert f'read the calls again, adapt the texts, and write asked = "{other["pay"].fingerprint}"' in detail
    ((entry, _, detail),) = found(tmp_path, TEXTS, {"pay": PAYMENT})
    assert entry == "cancel"
    assert detail.endswith("remove the entry, or give the traces that it was written for")
    with pytest.raises(InputError, match=r"payments\.texts\.toml, \[cancel\]: .* remove the entry"):
        require_texts({"pay": PAYMENT}, read_texts(write(tmp_path)), write(tmp_path))


def test_notes_that_nothing_uses_are_findings(tmp_path: Path) -> None:
    text = TEXTS + 'says = {"CancelOrder.order_id" = "it", "FindOrder.description" = "the house"}\n'
    details = [detail for _, _, detail in found(tmp_path, text)]
    assert details == [
        "complete: says has 'CancelOrder.order_id', which no asked call has; it can have 1.FindOrder.description, "
        "FindOrder.description",
        "complete: says notes 'the house', which neither text has",
    ]


def test_two_entries_with_the_same_words_are_a_finding(tmp_path: Path) -> None:
    both = TEXTS.replace("[cancel]", "[other]").replace(CANCELLATION.fingerprint, PAYMENT.fingerprint)
    start = both.index("The brakes"), both.index("'''\nworkflow")
    both = both.replace("Stop the money for the flat, please: the rent for Alder Court.", "#").replace(
        'goal = "#"', f"goal = '''{both[slice(*start)]}'''"
    )
    same = [detail for _, style, detail in found(tmp_path, both, {"pay": PAYMENT, "other": PAYMENT}) if style == "goal"]
    assert same == ["distinct: the text equals that of pay/goal but for its values; write another one"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pay]\n", 'it lacks the line environment = "NAME"'),
        ('environment = "payments"\n[pay]\nasked = "1"\ngoal = ""\n', r"\[pay\]: workflow: is missing"),
        ('environment = "payments"\n[pay\n', "not a TOML file"),
        (TEXTS.replace("goal =", "gaol =", 1), r"\[pay\]: .*an entry has asked, goal, workflow and says"),
    ],
)
def test_an_unusable_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_texts(write(tmp_path, text))


def test_a_folder_has_one_file_for_each_environment(tmp_path: Path) -> None:
    assert texts_file(tmp_path, "clinic") == tmp_path / "clinic.texts.toml"
    assert texts_file(tmp_path / "mine.toml", "clinic") == tmp_path / "mine.toml"


def _row(name: str, request: AskedRequest) -> TraceRow:
    secret = request.secret
    assert secret is not None
    one, other = secret.values
    contrast = Contrast(
        pair=name, fact=secret.name, table="payees", key="PY-6663", field="restriction", value=one, other=other
    )
    trace = Trace(request.initials[0], request.calls, request.initials[0])
    return trace_row(f"{name}a", request.environment, "contrasts", trace, contrast)


def _failing(lawtrace: Shell, *words: str) -> dict[str, Any]:
    code, out, err = lawtrace(*words, "--json")
    assert code == 1, err
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    return result


def test_the_command_writes_a_skeleton_and_checks_the_file(lawtrace: Shell, tmp_path: Path) -> None:
    rows = [_row("pay", PAYMENT)]
    (request,) = asked_requests(PAYMENT.environment, rows).values()
    assert request.fingerprint == PAYMENT.fingerprint
    write_rows(tmp_path / "traces.jsonl", rows)
    command = ("tasks", "texts", "payments.texts.toml", "--traces", "traces.jsonl")
    assert lawtrace.json(*command) == {"entries": 1, "findings": [], "out": "payments.texts.toml"}
    assert _failing(lawtrace, *command)["good"] == 0
    write(tmp_path, TEXTS.split("[cancel]")[0])
    assert lawtrace.json(*command) == {"entries": 1, "good": 1, "missing": [], "findings": []}
    write(tmp_path, 'environment = "payments"\n')
    assert _failing(lawtrace, *command, "--add")["missing"] == ["pay"]
    assert read_texts(tmp_path / "payments.texts.toml").pairs["pay"].asked == PAYMENT.fingerprint
    write(tmp_path, TEXTS.split("[cancel]")[0].replace("€85.40", "a lot"))
    (finding,) = _failing(lawtrace, *command)["findings"]
    assert (finding["entry"], finding["style"], finding["check"]) == ("pay", "goal", "complete")


def test_the_command_needs_one_source_of_requests(lawtrace: Shell, tmp_path: Path) -> None:
    write_rows(tmp_path / "traces.jsonl", [_row("pay", PAYMENT)])
    write(tmp_path, 'environment = "clinic"\n')
    code, _, error = lawtrace("tasks", "texts", "payments.texts.toml")
    assert code == 2
    assert "either --traces FILE or --tasks FILE" in error
    code, _, error = lawtrace("tasks", "texts", "payments.texts.toml", "--traces", "traces.jsonl")
    assert code == 2
    assert "its texts are for 'clinic', the requests are about 'payments'" in error
