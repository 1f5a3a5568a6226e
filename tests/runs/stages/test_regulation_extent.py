"""How the law is given to a model under test: whole, the provisions that apply, or the name."""

from typing import Any

import pytest

from lawtrace.agents.roles.executor import Briefing, RegulationExtent, tools_system
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Event
from lawtrace.runs.schemas.task_rows import CallRow, Contrast, Task
from lawtrace.runs.stages.attempts_stage import applicable_provisions
from lawtrace.solver.rules import Rule

BANKING = load_domain("banking")
FIRST, SECOND, *_ = BANKING.regulation.provisions
LAW = BANKING.regulation.id
RULES = (
    Rule(id="checked", formula="G(PayBill -> O CheckAuthorization)", regulation=LAW, provisions=("1",)),
    Rule(
        id="recorded",
        formula="G(PayBill -> F RecordAuditEvent)",
        regulation=LAW,
        provisions=("2", "3"),
    ),
    Rule(id="told", formula="G(SearchPayee -> F RecordAuditEvent)", regulation=LAW, provisions=("4",)),
    Rule(id="other law", formula="G !TransferFunds", regulation="other", provisions=("5",)),
)


def task(name: str, applicable: tuple[str, ...], pair: str | None = None, asked: tuple[str, ...] = ()) -> Task:
    fields: dict[str, Any] = {"pair": pair, "fact": "f", "table": "t", "key": "k", "field": "x"}
    return Task(
        id=name,
        environment="banking",
        rules=RULES,
        applicable=applicable,
        initial_state={},
        target_state={},
        asked_calls=tuple(CallRow(event=Event(tool, {}), origins={}) for tool in asked),
        contrast=None if pair is None else Contrast(**fields, value=1, other=2),
        program="",
        instructions={},
    )


def prompt(extent: RegulationExtent, *citations: str) -> str:
    briefing = Briefing(regulation=extent, provisions=frozenset(citations))
    return tools_system(BANKING.environment, BANKING.regulation, briefing)


def test_the_prompt_has_as_much_of_the_law_as_is_set() -> None:
    whole, some, name = prompt("whole"), prompt("applicable", FIRST.citation), prompt("name")
    assert all(BANKING.regulation.name in text for text in (whole, some, name))
    assert [provision.words() in whole for provision in (FIRST, SECOND)] == [True, True]
    assert [provision.words() in some for provision in (FIRST, SECOND)] == [True, False]
    assert [provision.words() in name for provision in (FIRST, SECOND)] == [False, False]
    assert "regulation applies to your work:" in whole
    assert "provisions apply to your work:" in some
    assert "expected to know" in name


def test_both_sides_of_a_pair_get_the_same_provisions() -> None:
    tasks = [task("a", ("checked", "other law"), "p"), task("b", ("told",), "p"), task("c", ("recorded",))]
    assert applicable_provisions(BANKING.regulation, tasks) == {"a": {"1", "4"}, "b": {"1", "4"}, "c": {"2", "3"}}


def test_what_was_asked_counts_where_the_reference_declines_it() -> None:
    found = applicable_provisions(BANKING.regulation, [task("a", ("told",), asked=("PayBill",))])
    assert found == {"a": {"1", "2", "3", "4"}}


def test_one_side_of_a_pair_is_an_error() -> None:
    with pytest.raises(InputError, match="contrast pair p: only one side"):
        applicable_provisions(BANKING.regulation, [task("a", ("checked",), "p")])
