"""The examples of docs/declaration.md print what the page shows, and the page names all that a declaration can use."""

import contextlib
import dataclasses
import io
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from lawtrace.environments import spec
from lawtrace.solver.declarations.loader import load_domain
from tests.support.shell import Shell

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "declaration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)
CODE = "\n".join(code for code, _ in EXAMPLES)
NAMES = [name for name, value in vars(spec).items() if name[0] != "_" and not isinstance(value, ModuleType)]


def test_the_examples_print_what_the_page_shows() -> None:
    names: dict[str, object] = {}
    for code, expected in EXAMPLES:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/declaration.md", "exec"), names)
        assert printed.getvalue() == expected, code


def test_the_examples_use_every_public_name() -> None:
    assert [name for name in NAMES if not re.search(rf"\b{name}\b", CODE)] == []


def test_the_page_names_every_field() -> None:
    declared = [getattr(spec, name) for name in NAMES]
    fields = {
        (thing.__name__, field.name)
        for thing in declared
        if isinstance(thing, type) and dataclasses.is_dataclass(thing)
        for field in dataclasses.fields(thing)
        if field.init
    }
    assert [(owner, name) for owner, name in sorted(fields) if not re.search(rf"\b{name}\b", PAGE)] == []


@pytest.mark.parametrize("folder", ["environments/domains", "docs/environments"])
def test_environments_import_the_module_that_the_page_describes(folder: str) -> None:
    declarations = [path.read_text(encoding="utf-8") for path in (ROOT / folder).glob("*/*.py")]
    modules = {name for text in declarations for name in re.findall(r"lawtrace\.environments\.spec[.\w]*", text)}
    assert modules <= {"lawtrace.environments.spec"}


FREEZE = """
FREEZE_ACCOUNT = s.Tool(
    name="FreezeAccount",
    summary="Freezes an account, so that no money can be taken from it.",
    phrases=s.Phrases("Freeze {account_number}.", "The freeze of {account_number} is in force."),
    parameters=(account_number("account_number", "The account to freeze."),),
    raises=(not_an_account("account_number"),),
    fails=(
        s.Fails(
            "The account is frozen already.",
            s.value_of(e.ACCOUNTS, lambda a: a.account_number == account, "status", otherwise="") == "frozen",
        ),
    ),
    effects=(s.Update(e.ACCOUNTS, lambda a: a.account_number == account, {"status": s.constant("frozen")}),),
    results=(s.success_result("Whether it was frozen."),),
    emits="ACCOUNT_FROZEN",
    critical=True,
)

TOOLS = (
    FREEZE_ACCOUNT,
"""
RULE = """
[[rules]]
id = "authorize-freeze"
formula = "!((!CheckAuthorization) U FreezeAccount)"
regulation = "PSD2"
provisions = ["Article 97(1)(b)", "Article 97(1)(c)"]
rationale = "A freeze set off by a stranger is an abuse over a remote channel."
"""


@pytest.mark.slow
def test_a_copied_environment_takes_one_tool_and_one_rule_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my_bank"
    shutil.copytree(load_domain("banking").folder, folder)
    for file, old, new in (
        ("__init__.py", 'name="banking"', 'name="my_bank"'),
        ("tools.py", "\nTOOLS = (\n", FREEZE),
        ("rules.toml", "", RULE),
    ):
        path = folder / file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lawtrace = Shell(monkeypatch, capsys)
    code, out, err = lawtrace("env", "check", folder)
    assert code == 0, out + err
