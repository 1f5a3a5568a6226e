"""What guard, judge and audit import: little from others, and nothing of the extra `bench`."""

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from lawtrace.runs.bench_extra import BENCH_MODULES
from lawtrace.runs.plugins import plugin_commands

MOST_PACKAGES = 8
"""Distributions of others that importing the guard may load."""

NO_BENCH = f"import sys; sys.modules.update(dict.fromkeys({BENCH_MODULES})); "
"""As if the extra were not installed."""

BASE_COMMANDS = (
    "--help", "audit --help", "guard --help", "rules check --help", "env list", "run --help", "report --help",
)  # fmt: skip


def test_importing_the_guard_loads_few_packages() -> None:
    owners = packages_distributions()
    loaded = _python("-c", "import sys; before = {*sys.modules}; import lawtrace; lawtrace.Guard; "
                     "print(*{*sys.modules} - before)").stdout.split()  # fmt: skip
    found = {owner for name in loaded for owner in owners.get(name.partition(".")[0], ())} - {"lawtrace"}
    assert "pydantic" in found
    assert len(found) <= MOST_PACKAGES, sorted(found)


def test_guard_judge_and_audit_need_nothing_of_the_benchmark(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"conversation": "a", "tool": "PayBill", "result": 1}\n', encoding="utf-8")
    code = f"""
import lawtrace
bank = lawtrace.load_environment("banking")
rules = lawtrace.load_rules(bank.rules_file, bank)
assert not lawtrace.judge(rules, [{{"tool": "GetAccountStatement", "arguments": {{"account_number": "1"}}}}]).kept
assert lawtrace.Guard(rules, bank).before({{"tool": "GetAccountStatement", "arguments": {{"account_number": "1"}}}})
never = lawtrace.Rule(id="never", formula="G !PayBill")
assert [row.outcome for row in lawtrace.audit([never], {str(log)!r}, ["PayBill"])] == ["unlawful"]
assert lawtrace.GuardedAgent and lawtrace.GuardedWorkbench
"""
    _python("-c", NO_BENCH + code)


@pytest.mark.slow
def test_base_commands_need_nothing_of_the_benchmark(tmp_path: Path) -> None:
    code = f"""
import contextlib, io
from lawtrace.runs.cli import app
for words in {BASE_COMMANDS}:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            app(words.split())
        except SystemExit as end:
            assert end.code == 0, (words, end.code)
"""
    _python("-c", NO_BENCH + code)
    log, rules, out = tmp_path / "log.jsonl", tmp_path / "rules.toml", tmp_path / "audit.jsonl"
    log.write_text('{"conversation": "a", "tool": "PayBill", "result": 1}\n', encoding="utf-8")
    rules.write_text('[[rules]]\nid = "never"\nformula = "G !PayBill"\n', encoding="utf-8")
    done = _command("audit", log, "--rules", rules, "--out", out)
    assert done.returncode == 1, done.stderr
    assert "never" in out.read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_needs_the_extra_names_it(tmp_path: Path) -> None:
    commands = ["run", "report ."]
    if "legal" in plugin_commands():
        commands.append("legal check")
    for words in commands:
        refused = _command(*words.split(), cwd=tmp_path)
        says = "lawtrace: this command needs the extra 'bench': pip install 'lawtrace[bench]'"
        assert (refused.returncode, " ".join(refused.stderr.split())) == (3, says), words
    refused = _python("-c", NO_BENCH + "import lawtrace; lawtrace.run()", check=False)
    assert refused.stderr.endswith("lawtrace.run() needs the extra 'bench': pip install 'lawtrace[bench]'\n")
    assert not [*tmp_path.iterdir()]


def _command(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    code = f"sys.argv = {['lawtrace', *map(str, words)]}; from lawtrace.runs.cli import main; main()"
    return _python("-c", NO_BENCH + code, cwd=cwd, check=False)


def _python(*words: str, cwd: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done
