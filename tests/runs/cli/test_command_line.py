"""The command line: results on standard output; an error is one sentence and an exit code."""

import json
from pathlib import Path

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play
from tests.support.shell import Shell, run_command


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of traces, with the tasks made of them beside it."""
    folder = tmp_path_factory.mktemp("made")
    run_command(folder, "traces", "synthesize", "--count", 2, "--out", "traces.jsonl")
    run_command(folder, "tasks", "build", "--traces", "traces.jsonl", "--count", 2, "--out", "tasks.jsonl")
    return folder / "traces.jsonl"


def test_stage_commands_in_sequence(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    law = write_bank_law(tmp_path)
    with serving(play) as server:
        server.connect(monkeypatch)
        words = ("rules", "extract", law, "--env", "banking", "--model", "openai:some", "--out", "rules.jsonl")
        assert lawtrace.json(*words)["rules"] > 0
    assert lawtrace.json("rules", "check", "--rules", "rules.jsonl")["findings"] == []
    synthesised = lawtrace.json("traces", "synthesize", "--rules", "rules.jsonl", "--count", 4, "--out", "traces.jsonl")
    assert synthesised["traces"] == 4
    assert (
        lawtrace.json(
            *("tasks", "build", "--traces", "traces.jsonl", "--rules", "rules.jsonl"),
            *("--count", 3, "--out", "tasks.jsonl"),
        )["tasks"]
        == 3
    )
    command = ("run", "--tasks", "tasks.jsonl", "--model", "baseline:literal", "--out", "made")
    code, _, err = lawtrace(*command)
    assert (
        code,
        "cite provisions that are not in the regulation of the environment (PSD2)" in " ".join(err.split()),
    ) == (2, True)
    attempts = lawtrace.json(*command, "--regulation-file", law)
    assert attempts["attempts"] == 6
    graded = lawtrace.json(
        "grade", "--tasks", "tasks.jsonl", "--programs", "made/attempts.jsonl", "--out", "verdicts.jsonl"
    )
    assert graded["outcomes"] == {
        "safe_success": 0,
        "unsafe_success": 6,
        "unsafe_failure": 0,
        "arguable_success": 0,
        "arguable_failure": 0,
        "benign_failure": 0,
        "undetermined": 0,
        "no_program": 0,
        "invalid": 0,
    }
    assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 6


def test_tasks_build_omits_the_evaluator_if_the_recipe_disables_it(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[conversation]\nevaluator = false\n[tasks]\ncount = 1\nspare = 1\n", encoding="utf-8")
    assert lawtrace.json("tasks", "build", "--recipe", recipe)["tasks"] == 1
    with EventLogFile.open(tmp_path / "tasks.events") as event_log:
        assert list(event_log.entries(role="masking_evaluator")) == []
        assert list(event_log.entries(role="instruction_generator")) != []


def test_full_run_and_its_inspection_commands(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[tasks]\ncount = 2\nspare = 1\n", encoding="utf-8")
    code, out, err = lawtrace("run", recipe, "--out", "run")
    assert code == 0, err
    assert "baseline:reference" in out
    assert "4 of 4 dropped compliance steps" in out
    assert "Best habit, each style: 100 % of tasks (2 of 2): CheckAuthorization" in out
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "unsafe" in page.lower()
    (tmp_path / "run" / "report.html").unlink()
    assert lawtrace.json("report", "run")["reports"] == ["run/report.html"]
    code, out, _ = lawtrace("messages", "run", "--role", "masking_evaluator")
    assert code == 0
    assert "masking_evaluator" in out
    graded = lawtrace.json("grade", "run")
    assert graded["verdicts"] == 20
    code, _, err = lawtrace("run", recipe, "--out", "run")
    assert code == 2
    assert "resume" in err


def test_doctor_reports_the_sandbox(lawtrace: Shell) -> None:
    found = lawtrace.json("doctor")
    assert found["sandbox"] is True
    assert isinstance(found["versions"], dict)


def test_doctor_fails_if_an_endpoint_does_not_answer(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    code, out, _ = lawtrace("doctor")
    assert (code, "NO ANSWER" in out) == (3, True)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("traces", "synthesize", "--env", "bankin"), "did you mean 'banking'"),
        (("rules", "check", "--rules", "none.jsonl"), "none.jsonl: cannot be read"),
        (("run", "none.toml"), "none.toml: cannot be read"),
        (("report", "nowhere"), "no such run folder"),
        (("report", "."), "holds no run"),
        (("grade", "."), "holds no run"),
        (("messages", "nowhere"), "nowhere"),
        (("grade",), "--tasks FILE and --programs FILE"),
        (("run", "--tasks", "none.jsonl", "--model", "baseline:noop"), "none.jsonl"),
        (("tasks", "import", "logisafetybench", "nowhere"), "nowhere"),
    ],
)
def test_usage_error_is_one_sentence_and_exit_code_2(lawtrace: Shell, words: tuple[str, ...], complaint: str) -> None:
    code, out, err = lawtrace(*words)
    assert code == 2
    assert complaint in " ".join(err.split())
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("!((!CheckAuthorization) U PayBil)", "PayBill"),
        ("G(PayBill -> ", "line 1"),
        ("G(PayBill(amont > 3) -> F RecordAuditEvent)", "amount"),
    ],
)
def test_formula_error_names_rule_and_remedy(lawtrace: Shell, tmp_path: Path, formula: str, complaint: str) -> None:
    (tmp_path / "rules.jsonl").write_text(json.dumps({"id": "mine", "formula": formula}) + "\n", encoding="utf-8")
    code, _, err = lawtrace("rules", "check", "--rules", "rules.jsonl")
    assert code == 2
    assert "'mine'" in err
    assert complaint in err


@pytest.mark.slow
def test_trace_constraints_and_tasks_from_the_traces(lawtrace: Shell, tmp_path: Path) -> None:
    constraints = ("--require", "PayBill", "--forbid", "TransferFunds", "--compliance", 0.2, 0.3, "--distance", 1)
    lawtrace.json("tasks", "build", "--count", 2, "--length", 7, *constraints, "--out", "tasks.jsonl")
    lines = (tmp_path / "tasks.traces.jsonl").read_text().splitlines()
    walks = [[call["event"]["tool"] for call in json.loads(line)["calls"]] for line in lines]
    assert len({tuple(walk) for walk in walks}) == 4  # two, and as many to spare
    assert all("PayBill" in walk and "TransferFunds" not in walk and len(walk) == 7 for walk in walks)
    code, _, err = lawtrace("tasks", "build", "--traces", "tasks.traces.jsonl", *constraints)
    assert (code, "cannot be combined with" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("traces", "synthesize", "--pair", "PayBill")
    assert (code, "First,Second" in err) == (2, True)
    code, _, err = lawtrace("traces", "synthesize", "--require", "PayBill", "--forbid", "SearchPayee")
    assert code == 3
    assert "required tool PayBill, forbidden tool SearchPayee" in " ".join(err.split())


def test_environments_are_listed_and_shown(lawtrace: Shell) -> None:
    assert lawtrace.json("env", "list")["environments"] == [*BUILT_IN_DOMAINS]
    shown = lawtrace.json("env", "show", "banking")
    assert len(shown["rules"]) == 11
    assert shown["provisions"]["Article 97(1)(a)"]["tools"][1:] == [
        "GetAccountStatement",
        "GetAccountInformation",
        "SearchTransactions",
    ]
    assert shown["provisions"]["Article 74(2)"] == {"rules": [], "tools": []}
    assert shown["tools"]["SearchPayee"]["provisions"] == ["Manual 2"]
    code, out, _ = lawtrace("env", "show", "banking")
    assert (code, "Article 97(2)" in out) == (0, True)


def test_formulas_as_automata(lawtrace: Shell) -> None:
    assert lawtrace.json("ltlf", "dfa", "G(a -> F b)")["verdicts"] == ["holding", "open"]
    code, _, err = lawtrace("ltlf", "dfa", "G(a -> b -> c)")
    assert code == 2
    assert "parenthes" in err


@pytest.mark.slow
def test_trace_coverage(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = lawtrace.json("traces", "coverage", "--length", 5, "--count", 12)
    tasks = found["tasks"]
    assert len(tasks["feasible"]) + len(tasks["infeasible"]) == 64
    assert tasks["missing"] == tasks["undecided"] == []
    assert tasks["complete_after"] <= 6
    assert all(entry["message"] and entry["proof"] for entry in tasks["infeasible"])
    assert tasks["triggered"].keys() == found["coverage"]["triggered"].keys()
    code, out, _ = lawtrace("traces", "coverage", "--length", 5, "--count", 12, "--proofs")
    assert (code, "no exception" in " ".join(out.split())) == (0, True)


def test_tasks_that_cannot_be_judged_are_rejected(lawtrace: Shell, made: Path, tmp_path: Path) -> None:
    lines = made.with_name("tasks.jsonl").read_text()
    spoilt = {
        "twice.jsonl": (lines + lines, "occurs twice"),
        "rules.jsonl": (lines.replace("U TransferFunds", "U TransferFnds"), "does not match its rules"),
        "table.jsonl": (lines.replace('"payees":', '"payes":'), "payes"),
    }
    for name, (text, complaint) in spoilt.items():
        (tmp_path / name).write_text(text)
        code, _, err = lawtrace("run", "--tasks", name, "--model", "baseline:noop")
        assert code == 2
        assert complaint in " ".join(err.split())
        assert name in "".join(err.split())
    (tmp_path / "programs.jsonl").write_text('{"task": "another", "style": "goal", "program": "pass"}\n')
    code, _, err = lawtrace("grade", "--tasks", made.with_name("tasks.jsonl"), "--programs", "programs.jsonl")
    assert (code, "programs.jsonl, line 1" in " ".join(err.split())) == (2, True)
    lawtrace.json("traces", "synthesize", "--count", 1, "--length", 6, "--out", "other.jsonl")
    other = json.loads((tmp_path / "other.jsonl").read_text())["id"]
    assert other not in lines


def test_invalid_attempt_arguments(lawtrace: Shell, made: Path) -> None:
    for words in (("--model", "nonsense"), ("--model", "offline"), ("--model", "baseline:noop", "--trials", 101)):
        code, _, err = lawtrace("run", "--tasks", made.with_name("tasks.jsonl"), *words)
        assert code == 2, words
        assert "Traceback" not in err


def test_traces_of_other_rules_are_an_input_error(lawtrace: Shell, made: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.jsonl").write_text('{"id": "never", "formula": "G !CheckAuthorization"}\n')
    code, _, err = lawtrace("tasks", "build", "--traces", made, "--rules", "rules.jsonl", "--count", 1)
    assert code == 2
    assert "made with other rules" in " ".join(err.split())


def test_interrupted_extraction_writes_no_file(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.toml").write_text(
        '[models]\npolicy_extractor = "openai:gone"\n[conversation]\ndeadline_seconds = 1\n', encoding="utf-8"
    )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    code, _, err = lawtrace("rules", "extract", "--recipe", "recipe.toml", "--out", "rules.jsonl")
    assert (code, "no provision could be read" in " ".join(err.split())) == (3, True)
    assert not (tmp_path / "rules.jsonl").exists()


def test_missing_key_is_reported_before_the_run_starts(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    (tmp_path / "recipe.toml").write_text('[attempts]\nmodels = ["azure:some"]\n', encoding="utf-8")
    code, _, err = lawtrace("run", "recipe.toml", "--out", "run")
    assert (code, "AZURE_OPENAI_ENDPOINT" in err, (tmp_path / "run").exists()) == (2, True, False)
    plan = lawtrace.json("run", "recipe.toml", "--dry-run")
    assert plan["calls"][0]["model"] == "azure:some"
    (tmp_path / "recipe.toml").write_text('[models]\nmasking_evaluator = "replay:nowhere"\n', encoding="utf-8")
    code, _, err = lawtrace("run", "recipe.toml", "--out", "run")
    assert (code, "nowhere" in err, (tmp_path / "run").exists()) == (2, True, False)
