"""Drafts of environments: the example of the prompt, the checks by code, and the command with a scripted endpoint."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawtrace import Allow, Guard, Refuse, Rule
from lawtrace.agents.roles.world_roles import ClassedSentence, DraftReport, WorldDraft
from lawtrace.environments.domains.telehealth.doctor_tools import SEARCH_DOCTORS
from lawtrace.environments.runtime.documentation import argument_schema
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.terms import apply, argument
from lawtrace.environments.spec.tools import Fails
from lawtrace.environments.tool_schemas.forms import read_forms
from lawtrace.prompts.loader import load_prompt
from lawtrace.runs.audit.replay import replay
from lawtrace.runs.audit.sources.reading import read_transcripts
from lawtrace.runs.audit.world_checks import WorldChecks
from lawtrace.runs.audit.world_drafts import read_policy
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from tests.support.openai_server import serving
from tests.support.shell import Shell

(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", load_prompt("world_writer").body, re.DOTALL)
LIBRARY = WorldChecks("library", (), None, ()).read(EXAMPLE)
SCHEMAS: list[Json] = [
    {"name": name, "description": tool.summary, "inputSchema": argument_schema(tool)}
    for name, tool in LIBRARY.tools.items()
    if name != "Decline"
]
POLICY = """# Lending

An item is lent only after its check was shown as passed. Always be friendly.

## Notes

- Urgent notes come first.
"""


def report(declaration: str, policy: Path | None = None, **draft: Any) -> DraftReport:
    law = read_policy(policy) if policy else None
    return WorldChecks("library", [*read_forms(SCHEMAS, "")], law, ()).report(declaration, WorldDraft(**draft))


def test_the_example_of_the_prompt_has_no_findings() -> None:
    assert report(EXAMPLE) == DraftReport(declaration=EXAMPLE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[tools.RecentLoans]", "[tools.RecentLoan]", "there is no such tool; did you mean 'RecentLoans'"),
        ("[tools.RecentLoans]", "[tools.RecentLoan]", "tool 'RecentLoans' is missing"),
        ("default = 7, ", "", "tool 'Lend': 'days' is optional in the schema"),
        ("item.fee", "item.fees", "environment.toml, line 57"),
        ('n = { type = "integer"', 'm = { type = "integer"', "tool 'RecentLoans': the parameter 'n' is missing"),
    ],
)
def test_a_draft_that_does_not_fit_the_schemas(old: str, new: str, message: str) -> None:
    text = EXAMPLE.replace(old, new)
    text = text.replace("[n: {n}]", "[m: {m}]").replace('last = "n"', 'last = "m"') if new.startswith("m") else text
    assert message in " ".join(report(text).errors)


def test_fidelity_counts_before_findings_and_within_a_percent_after_them() -> None:
    drafts = [DraftReport(declaration="", equal=n, recorded=200, findings=("f",) * f) for n, f in DRAFTS]
    assert sorted(drafts, key=lambda one: one.score) == drafts
    assert DraftReport(declaration="", errors=("e",)).score < drafts[0].score


DRAFTS = ((0, 0), (180, 0), (191, 2), (190, 1), (191, 1), (200, 9))


def test_a_call_that_raises_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = Fails("Never.", apply("{0}", int, argument("member")))
    lend = replace(LIBRARY.tools["Lend"], fails=(wrong,))
    library = replace(LIBRARY, tools={**LIBRARY.tools, "Lend": lend})
    told = "\n".join(json.dumps(conversation(seed)) for seed in (1, 2))
    Path("logs.jsonl").write_text(told, encoding="utf-8")
    found = replay(library, read_transcripts(Path("logs.jsonl")))
    assert {(one.tool, one.field) for one in found.differences} == {("Lend", "outcome")}
    assert "ValueError: invalid literal for int()" in found.first_differences(1)[0]


def test_tools_of_the_next_answer_are_not_missing() -> None:
    first = EXAMPLE.partition("[tools.Audit]")[0]
    assert report(first, later=["Audit"]).errors == ("now declare Audit",)
    assert "tool 'Audit' is missing" in report(first).errors[0]


def test_sentences_of_a_policy(tmp_path: Path) -> None:
    page = tmp_path / "policy.md"
    page.write_text(POLICY, encoding="utf-8")
    policy = read_policy(page)
    assert [(one.citation, one.text) for one in policy.provisions] == [
        ("Lending (1)", "An item is lent only after its check was shown as passed."),
        ("Lending (2)", "Always be friendly."),
        ("Notes (3)", "Urgent notes come first."),
    ]
    classed = [ClassedSentence(citation=name, kind="rule") for name in ("Lending (1)", "Lending (4)")]
    first, second = report(EXAMPLE, page, sentences=classed).findings
    assert "without a class: Lending (2); Notes (3)" in first
    assert "no sentence 'Lending (4)'; did you mean" in second


def test_recorded_results_get_the_declared_names() -> None:
    loans, desk, lend = (LIBRARY.tools[name].named_result for name in ("RecentLoans", "ShowDesk", "Lend"))
    assert loans([{"id": 1}]) == loans({"loans": [{"id": 1}]}) == {"loans": [{"id": 1}]}
    assert loans({"1": {"days": 2}}) == loans({"loans": {"1": {"days": 2}}}) == {"loans": [{"id": "1", "days": 2}]}
    assert desk({"email": "a"}) == {"desk": {"email": "a"}}
    assert lend({"success": True}) == {"success": True}
    assert lend(7) == {"id": 7}
    assert LIBRARY.tools["WriteNote"].named_result({"message": "Noted."}) == {"message": "Noted."}
    found = SEARCH_DOCTORS.named_result({"D-1": {"available_slots": {"S-1": {"start": "a"}}}})
    slots: list[Json] = [{"slot_id": "S-1", "start": "a"}]
    assert found == {"doctors": [{"doctor_id": "D-1", "available_slots": slots}]}


def test_a_guard_reads_results_without_their_names() -> None:
    rule = Rule(id="funds", formula="G(Lend -> O ShowDesk(result.desk.balance >= 20))")
    for balance, decision in ((30.0, Allow), (10.0, Refuse)):
        guard = Guard([rule], LIBRARY)
        assert isinstance(guard.before({"tool": "ShowDesk"}), Allow)
        guard.after({"tool": "ShowDesk"}, {"email": "desk@library.example", "balance": balance})
        lend = {"tool": "Lend", "arguments": {"item_id": "T001", "member": "Ada"}}
        assert isinstance(guard.before(lend), decision)


def conversation(seed: int) -> dict[str, Any]:
    """A recorded conversation of the library, with the sentence that `WriteNote` answers."""
    session = Session(LIBRARY, LIBRARY.populate(Random(seed)))
    item = next(session.state.rows("items"))
    calls: list[tuple[str, dict[str, Json]]] = [
        ("FindItems", {"name": item.values["name"]}),
        ("Lend", {"item_id": item.values["item_id"], "member": "Ada"}),
        ("RecentLoans", {}),
        ("FindItems", {"name": item.values["name"]}),
        ("WriteNote", {"text": "Call Ada."}),
    ]
    messages: list[dict[str, Any]] = []
    for number, (tool, given) in enumerate(calls):
        answer = session.call(tool, given).text if tool != "WriteNote" else '{"message": "Noted."}'
        function = {"name": tool, "arguments": json.dumps(given)}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "function": function}]},
            {"role": "tool", "tool_call_id": str(number), "content": answer},
        ]
    return {"id": f"c{seed}", "messages": messages}


WRONG = EXAMPLE.replace(
    '{ update = "items", set.status = \'"lent"\' },', '{ update = "items", set.status = \'"in"\' },'
)
RULE = 'forall i: G(Lend(item_id == i) -> O CheckItem(item_id == i, result.checked == "passed"))'


def answer(request: Mapping[str, Any]) -> str:
    """A writer who begins with a wrong effect, corrects it, and then spoils the draft."""
    system = str(request["messages"][0]["content"])
    turns = sum(message["role"] == "assistant" for message in request["messages"])
    if system.startswith("Write an environment"):
        kinds = {"Lending (1)": "rule", "Lending (2)": "not sayable", "Notes (3)": "manual"}
        classed = [{"citation": name, "kind": kind, "because": "said so"} for name, kind in kinds.items()]
        part = [EXAMPLE.replace("item.fee", "item.fees"), WRONG, EXAMPLE, WRONG][turns]
        return json.dumps({"parts": [{"name": "all", "toml": part}], "sentences": classed if turns == 0 else []})
    if system.startswith("Review the declaration"):
        return json.dumps({"objections": ["Say more of the desk."]})
    if system.startswith("Write as rules"):
        rule = {"id": "checked", "formula": RULE, "citation": "Lending (1)", "quote": "after its check was shown"}
        without = [{"citation": name, "because": "no call shows it"} for name in ("Lending (2)", "Notes (3)")]
        return json.dumps({"rules": [rule], "not_checkable": without})
    return json.dumps({"objections": []})


def test_the_command_keeps_the_best_draft_and_asks_nothing_twice(
    lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("tools.json").write_text(json.dumps(SCHEMAS), encoding="utf-8")
    Path("policy.md").write_text(POLICY, encoding="utf-8")
    Path("logs.jsonl").write_text("\n".join(json.dumps(conversation(seed)) for seed in range(1, 7)), encoding="utf-8")
    draft = ("env", "draft", "tools.json", "--policy", "policy.md", "--logs", "logs.jsonl", "--model", "openai:m")
    with serving(answer) as server:
        server.connect(monkeypatch)
        code, out, err = lawtrace(*draft, "--out", "library", "--set", "conversation.rounds=4", "--json")
        asked = len(server.requests)
        assert code == 0, out[-3000:] + err
        again = lawtrace(*draft, "--out", "library", "--set", "conversation.rounds=4", "--json")
        assert (again[0], again[1], len(server.requests)) == (0, out, asked)
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    shown = ["\n".join(str(one["content"]) for one in request["messages"]) for request in server.requests]
    assert any("a row of 'items' has no field `fees`; did you mean 'fee'?" in text for text in shown)
    assert any("FindItems, status (results): here 'in', recorded 'lent'" in text for text in shown)
    held_out = {message["content"] for seed in (3, 6) for message in conversation(seed)["messages"][1::2]}
    seen = {message["content"] for seed in (1, 2, 4, 5) for message in conversation(seed)["messages"][1::2]}
    assert not any(content in text for content in held_out - seen for text in shown)
    assert (Path("library") / "environment.toml").read_text(encoding="utf-8").strip() == EXAMPLE.strip()
    assert found["drafts"] == 4
    assert found["fidelity"]["held_out"]["conversations"] == 2
    assert found["fidelity"]["held_out"]["different"] == 0 < found["fidelity"]["held_out"]["equal"]
    assert found["tools"]["WriteNote"]["undeclared"] == ["the result"]
    assert found["tools"]["Lend"]["undeclared"] == ["loans.due"]
    assert found["tools"]["Audit"]["undeclared"] == ["No recorded call shows what it changes."]
    assert {one["citation"]: (one["kind"], one["rules"]) for one in found["policy"]} == {
        "Lending (1)": ("rule", ["checked"]),
        "Lending (2)": ("not sayable", []),
        "Notes (3)": ("manual", []),
    }
    assert found["traces"] == 2
    domain = load_domain("./library")
    assert [rule.formula for rule in load_rules(domain.rules_file)] == [RULE]
    assert lawtrace("env", "show", "./library")[0] == 0
    pairs = lawtrace.json("tasks", "build", "--env", "./library", "--count", 2, "--out", "pairs.jsonl")
    assert pairs["tasks"] == 2


def test_a_scripted_model_cannot_write(lawtrace: Shell) -> None:
    Path("tools.json").write_text(json.dumps(SCHEMAS), encoding="utf-8")
    code, _, err = lawtrace("env", "draft", "tools.json", "--model", "offline", "--out", "library")
    assert (code, "this role needs a model" in err, "Traceback" in err) == (2, True, False)


@pytest.fixture
def lawtrace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)


@pytest.mark.slow
def test_the_recorded_draft(lawtrace: Shell) -> None:
    """It is replayed, and compared with calls that its writer did not see."""
    inputs = Path(__file__).parents[3] / "examples" / "account_assistant"
    draft = ("env", "draft", inputs / "tools.json", "--policy", inputs / "policy.md", "--logs", inputs / "logs.jsonl")
    models = ("--model", "replay:account-draft#writer", "--critic", "replay:account-draft#critic")
    code, out, err = lawtrace(*draft, *models, "--out", "account", "--json")
    assert code == 0, err
    assert "3 of 14 requests differ from the recorded ones" in err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    equal = {part: (one["equal"], one["different"]) for part, one in found["fidelity"].items()}
    assert equal == {"seen": (1102, 0), "held_out": (321, 3), "held_out_many_changes": (213, 3)}
    assert (found["drafts"], found["rules"], found["traces"], found["differences"]) == (3, 31, 2, [])
    assert sum(not tool["undeclared"] for tool in found["tools"].values()) == 9
    assert {one["kind"] for one in found["policy"]} == {"rule"}
    pairs = lawtrace.json("tasks", "build", "--env", "./account", "--count", 4, "--out", "pairs.jsonl")
    assert pairs["tasks"] == 4
    done = lawtrace.json("run", "--tasks", "pairs.jsonl", "--env", "./account", "--out", "run")["pairs"]
    assert done["baseline:reference/goal"] == {"right": 2, "pairs": 2}
    assert done["baseline:literal/goal"]["right"] == done["baseline:refuse/goal"]["right"] == 0
    code, _, err = lawtrace("tasks", "build", "--env", "./account", "--matters", 3, "--out", "dockets.jsonl")
    assert (code, "a look-up without parameters that lists the open matters" in err) == (3, True)
    _, out, _ = lawtrace("audit", inputs / "logs.jsonl", "--env", "./account", "--out", "audit.jsonl", "--json")
    assert json.loads(out.splitlines()[-1])["outcomes"] == {"unlawful": 25, "lawful": 11}
    domain = load_domain("./account")
    guard = Guard(load_rules(domain.rules_file), domain)
    pay = {"recipient": "X1", "amount": 10.0, "subject": "s", "date": "2024-01-01"}
    refused = guard.before({"tool": "send_money", "arguments": pay})
    assert isinstance(refused, Refuse)
    assert any("looks up the balance" in provision for provision in refused.provisions)
