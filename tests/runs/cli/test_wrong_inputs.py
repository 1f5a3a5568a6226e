"""Wrong inputs: what a command says of each, and its exit code. A row each; the files are made anew for each row."""

from pathlib import Path
from typing import NamedTuple

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from tests.support.shell import Shell


class Row(NamedTuple):
    """A command in a folder with `FILES`; its exit code, and parts of what it says on standard error."""

    words: str
    code: int
    says: tuple[str, ...]


TASK_FILE = '{"schema_version": "lawtrace.task_file/7", "rule_sets": {}}\n'

FILES = {
    "recipes/payments.toml": 'environment = "payments"\n',
    "role.toml": "[parameters.roles.masking_evalutor]\ntemperature = 0\n",
    "model.toml": '[attempts]\nmodels = ["openai:gpt-5"]\n[parameters.models."openai:gtp-5"]\ntop_p = 0.5\n',
    "ablated.toml": '[ablation]\n"attempts.models" = [["openai:a"], ["openai:b@http://localhost:1/v1"]]\n'
    '[parameters.models."openai:a"]\ntop_p = 0.5\n[parameters.models."openai:b"]\ntop_p = 0.5\n',
    "prices.toml": '[prices]\n"openai:decent" = 0.5\n',
    "roles.toml": "[models]\nroles = 'x'\n",
    "dots.toml": "a." * 100_000 + "a = 1\n",
    "newer.jsonl": TASK_FILE,
    "empty.toml": "",
    "run/tasks.jsonl": TASK_FILE,
    "audit.jsonl": "",
    "cut.json": '[{"messages":',
    "empty/README": "",
    "desk/laws.toml": "",
    "table.toml": "[[rule]]\nid = 'a'\n",
    "waiting/variants.jsonl": '{"number":1,"name":"a","changes":{},"models":[],"ended":"not made yet","made_by":{}}\n',
    "logs/quickstart/README": "",
}

ROWS = (
    Row("run ./desk", 2, ("desk: a folder; write --env desk for an environment, --tasks desk for tasks or a run",)),
    Row("run prices.toml", 2, ("prices.openai:decent: write { input = 0.5, output = ... }, the prices of a million",)),
    Row("run --tasks newer.jsonl", 2, ("line 1", "'lawtrace.task_file/7', and 'lawtrace.task_file/1' is read here")),
    Row("run --tasks desk", 2, ("desk: no task file in this folder; name a file, a release or a run",)),
    Row("run --limit 3", 2, ("--task and --limit choose from the tasks of --tasks FILE; --count says how many",)),
    Row("tasks check run", 2, ("run: not a release: it has no manifest.json; did you mean run/tasks.jsonl?",)),
    Row("compare begun nosuch", 2, ("begun: the run has no verdicts yet; `lawtrace resume begun` continues it",)),
    Row("compare waiting nosuch", 2, ("waiting: the run has no verdicts yet",)),
    Row("compare run nosuch", 2, ("run holds no run; give the folder of one, such as run/NAME",)),
    Row("audit cut.json --out cut.jsonl", 2, ("cut.json: the JSON breaks off or is malformed after 0 entries",)),
    Row("compare run run", 2, ("run is given twice; give two runs, or two of its models with --model and --against",)),
    Row("compare newer.jsonl run", 2, ("newer.jsonl: a file; give the folder of a run",)),
    Row("report newer.jsonl", 2, ("newer.jsonl: a file; give the folder of a run",)),
    Row("report run nosuch", 1, ("Left out: run holds no run", "Left out: nosuch: there is no such run")),
    Row("rules check --rules empty.toml", 2, ("empty.toml: is empty; write a rule as a [[rules]] table",)),
    Row("audit nosuch.json", 2, ("nosuch.json: cannot be read: No such file or directory",)),
    Row("messages empty", 2, ("empty has no event log (events.sqlite is missing)",)),
    Row("messages logs/nosuch", 2, ("logs/nosuch has no event log (there is no such folder)",)),
    Row("messages quickstart", 2, ("quickstart: no folder of a run", "did you mean 'logs/quickstart'")),
    Row(f"messages {'a' * 300}", 2, (f"{'a' * 100}: cannot be used: File name too long",)),
    Row("messages nosuch", 2, ("known are account-draft, banking",)),
    Row("run --model replay:pairs-payment#solver", 2, ("pairs-payment: no folder", "did you mean 'pairs-payments'")),
    Row("run --tasks 1.4", 2, ("1.4: no such task file, run or release",)),
    Row("grade run", 2, ("run: has no attempts; to judge programs, give --tasks run and --programs FILE",)),
    Row("rules check --rules table.toml", 2, ("table.toml: has 'rule'; expected nothing but [[rules]] tables",)),
    Row("run payments", 2, ("payments: no such file; did you mean recipes/payments.toml?",)),
    Row("run paymnets", 2, ("paymnets: no such file; did you mean recipes/payments.toml?",)),
    Row("run rolle.toml", 2, ("rolle.toml: no such file; did you mean role.toml",)),
    Row("run role.toml", 2, ("unknown role 'masking_evalutor'; did you mean 'masking_evaluator'",)),
    Row("run model.toml", 2, ("parameters.models: no role has 'openai:gtp-5'; did you mean 'openai:gpt-5'",)),
    Row("run model.toml --model openai:gtp-5 --dry-run", 0, ()),
    Row("run ablated.toml --dry-run", 0, ()),
    Row("run roles.toml", 2, ("unknown key 'models.roles'; [models] has the keys policy_extractor",)),
    Row("run dots.toml", 2, ("dots.toml: not a TOML file: a key has more than 100 parts",)),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for run in ("begun", "waiting"):
        EventLogFile.create(tmp_path / run, recipe=None).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_a_wrong_input_is_explained(lawtrace: Shell, row: Row) -> None:
    code, _, err = lawtrace(*row.words.split())
    said = " ".join(err.split())
    assert code == row.code, said
    assert not [part for part in row.says if part not in said], said
