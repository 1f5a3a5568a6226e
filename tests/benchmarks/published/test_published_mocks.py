"""The mock tools against the published states: every ground-truth case, and every recorded final state."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.published.domains import PUBLISHED_DOMAINS
from benchmarks.published.grading import MockRun, run_on_mock
from lawtrace.environments.sandbox import SandboxPool
from lawtrace.schemas.choices import PublishedDomainName
from lawtrace.schemas.events import Json
from lawtrace.schemas.task_rows import PublishedCase

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "logisafety"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.shared,
    pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not beside the checkout"),
]
DOMAINS = pytest.mark.parametrize("domain", PUBLISHED_DOMAINS)
Runnable = tuple[PublishedCase, str]


def _cases(domain: PublishedDomainName) -> dict[str, dict[str, Any]]:
    text = (PUBLISHED / f"{domain}_ground_truth_cases.json").read_text(encoding="utf-8")
    return {case["trace_id"]: case for case in json.loads(text)["test_cases"]}


def _case(domain: PublishedDomainName, case: Mapping[str, Any]) -> PublishedCase:
    return PublishedCase(
        object_name=PUBLISHED_DOMAINS[domain].object_name,
        variables={},
        initial_state=case["initial_state"],
        final_state=case["final_state"],
    )


def _runnable(domain: PublishedDomainName, program: str) -> str:
    """The program with its ids quoted; the mock of the lock returns bare values, as the program expects."""
    if domain == "smart_lock":
        return re.sub(r"\bgid_(guest_\d+)\b", r"'\1'", program.replace("AugustSmartLock.", "SmartLock."))
    return PUBLISHED_DOMAINS[domain].repair(program)


def _run(programs: list[Runnable]) -> list[MockRun]:
    with SandboxPool(count=2) as sandboxes:
        begun = [
            sandboxes.submit(lambda sandbox, one: run_on_mock(one[0], one[0].final_state, one[1], sandbox), program)
            for program in programs
        ]
        return [one.result() for one in begun]


def _without_log(state: Mapping[str, Json]) -> dict[str, Json]:
    return {table: rows for table, rows in state.items() if table != "audit_logs"}


@DOMAINS
def test_every_ground_truth_program_reaches_its_published_state(domain: PublishedDomainName) -> None:
    cases = _cases(domain)
    programs = [(_case(domain, case), _runnable(domain, case["generated_program"])) for case in cases.values()]
    assert len(programs) == 300
    for (case, _), ran in zip(programs, _run(programs), strict=True):
        assert ran.execution.error is None
        assert ran.state == case.final_state


@DOMAINS
def test_recorded_final_states_differ_only_by_drawn_ids(domain: PublishedDomainName) -> None:
    cases = _cases(domain)
    labelled = json.loads((PUBLISHED / f"labeled_{domain}_dataset.json").read_text(encoding="utf-8"))
    variables = {row["trace_id"]: row["init_block"] for row in labelled}
    rows = [
        row
        for path in sorted(PUBLISHED.glob(f"records/eval_{domain}_*.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))
        if row["evaluation"].get("code_executed_successfully")
    ]
    programs = [
        (_case(domain, cases[row["trace_id"]]), f"{variables[row['trace_id']]}\n{row['generated_code']}")
        for row in rows
    ]
    newer = 0
    for row, ran in zip(rows, _run(programs), strict=True):
        if ran.execution.status == "syntax_error":
            newer += 1  # an f-string that parses from Python 3.12 on
        elif not ran.drawn_ids:
            assert _without_log(ran.state) == _without_log(row["evaluation"]["actual_state"])
    assert newer <= 1
    assert len(rows) > 100
