"""Loading of environment folders: errors name file, line and remedy; folders do not clash."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import load_domain

DECLARATION = """
from lawtrace.environments.spec import Environment

from . import tables

ENVIRONMENT = Environment(
    name="shop",
    title="Shop",
    object_name="Shop",
    summary="Sells.",
    entities={},
    tools={},
    populate=tables.populate,
)
"""
TABLES = """
from lawtrace.environments.spec import State

COLOUR = "red"


def populate(random):
    return State({})
"""
REGULATION = """
id = "R"
title = "T"
source = "S"
restated = true
[[provisions]]
citation = "1"
text = "Words."
"""
FILES = {"__init__.py": DECLARATION, "tables.py": TABLES, "regulation.toml": REGULATION, "rules.toml": ""}

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_folder(name: str = "shop", **changed: str | None) -> str:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        files = FILES | {file.replace("__dot__", "."): text for file, text in changed.items()}
        for file, text in files.items():
            if text is None:
                (folder / file).unlink(missing_ok=True)
            else:
                (folder / file).write_text(text, encoding="utf-8")
        return str(folder)

    return write_folder


def leftovers() -> set[str]:
    return {name for name in sys.modules if name.startswith("lawtrace_environment_")}


def test_load_a_folder(write: Write) -> None:
    folder = write()
    domain = load_domain(folder)
    assert (domain.environment.name, domain.regulation.id) == ("shop", "R")
    assert (str(domain.folder), str(domain.rules_file)) == (folder, f"{folder}/rules.toml")
    assert load_domain(folder).environment is domain.environment
    assert not list(Path(folder).rglob("*.pyc"))


def test_a_change_is_noticed_at_once(write: Write) -> None:
    before = load_domain(write())
    after = load_domain(write(**{"tables.py": TABLES.replace("red", "rot")}))
    assert before.digest != after.digest
    assert before.environment is not after.environment
    assert load_domain(write()).digest == before.digest


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"__init__.py": None}, r"environment\.toml: not found"),
        ({"regulation.toml": None}, r"regulation\.toml: not found"),
        ({"rules.toml": None}, r"rules\.toml: not found"),
        ({"regulation.toml": "id ="}, r"regulation\.toml: not a TOML file"),
        ({"__init__.py": "x = 1\ny = (\n"}, r"__init__\.py, line 2: not Python: '\(' was never closed"),
        ({"tables.py": "def f(:\n"}, r"tables\.py, line 1: not Python"),
        ({"tables.py": "\n\n1 / 0\n"}, r"tables\.py, line 3: ZeroDivisionError: division by zero"),
        ({"tables.py": "import sys\nsys.exit(3)\n"}, r"tables\.py, line 2: SystemExit: 3"),
        (
            {"__init__.py": "import nonesuch\n"},
            r"__init__\.py, line 1: ModuleNotFoundError: No module named 'nonesuch'",
        ),
        ({"__init__.py": "import tables\n"}, r"line 1: there is no module 'tables'; write `from \. import tables`"),
        ({"__init__.py": "from tables import populate\n"}, r"write `from \. import tables`"),
        ({"__init__.py": "x = 1\n"}, r"__init__\.py: does not declare ENVIRONMENT; end it with ENVIRONMENT ="),
        ({"__init__.py": "ENVIROMENT = 1\n"}, r"is 'ENVIROMENT' meant to be it\?"),
        ({"__init__.py": "ENVIRONMENT = 1\n"}, r"ENVIRONMENT is of type int"),
        ({"__init__.py": DECLARATION.replace('"shop"', '"Shop 1"')}, r"the environment's name is 'Shop 1'"),
        ({"__init__.py": DECLARATION.replace('"shop"', '"banking"')}, r"'banking', like a built-in one"),
    ],
)
def test_errors_name_file_line_and_remedy(write: Write, changed: dict[str, str | None], complaint: str) -> None:
    before = leftovers()
    with pytest.raises(InputError, match=complaint) as caught:
        load_domain(write(**changed))
    assert "shop" in str(caught.value)
    if "banking" not in complaint:
        assert leftovers() == before


def test_an_invalid_declaration_is_reported_with_its_line(write: Write) -> None:
    refused = DECLARATION.replace(
        "from . import tables", "from lawtrace.environments.spec import Tool\nfrom . import tables"
    )
    refused = refused.replace("tools={}", 'tools={"Do": Tool("Do", "Does.")}')
    with pytest.raises(InputError, match=r"__init__\.py, line 13: .*'shop', tool 'Do': an ordinary tool needs phrases"):
        load_domain(write(**{"__init__.py": refused}))


def test_an_invalid_tool_is_reported_where_it_is_declared(write: Write) -> None:
    declaration = DECLARATION.replace("tools={}", 'tools={"Do": tables.DO}')
    tables = TABLES.replace("import State", "import State, Tool") + 'DO = Tool(\n    "Do",\n    "Does.",\n)\n'
    with pytest.raises(InputError, match=r"tables\.py, line 9: .*tool 'Do': an ordinary tool needs phrases"):
        load_domain(write(**{"__init__.py": declaration, "tables.py": tables}))


def test_a_copied_built_in_environment_uses_its_own_files(tmp_path: Path) -> None:
    folder = tmp_path / "bank"
    shutil.copytree(load_domain("banking").folder, folder)
    for file, old, new in (("__init__.py", 'name="banking"', 'name="bank"'), ("tools.py", "PayBill", "PayInvoice")):
        path = folder / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    tools = load_domain(str(folder)).environment.tools
    assert ("PayInvoice" in tools, "PayBill" in tools) == (True, False)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("    return State(drawn)", r"populate: .*tables\.py, line 8: NameError: name 'drawn'"),
        ("    return {}", r"shop/__init__\.py: populate returns a dict; let it return a State"),
    ],
)
def test_exceptions_of_populate_name_file_and_line(write: Write, body: str, complaint: str) -> None:
    tables = TABLES.replace("    return State({})", body)
    environment = load_domain(write(**{"tables.py": tables})).environment
    with pytest.raises(InputError, match=complaint):
        environment.populate(Random(1))


def test_a_state_that_leaves_out_a_table_is_refused(write: Write) -> None:
    boxes = 'entities={"boxes": spec.table("boxes", "box", id=spec.TEXT)},'
    declaration = DECLARATION.replace("entities={},", boxes)
    declared = f"from lawtrace.environments import spec\n{declaration}"
    with pytest.raises(InputError, match=r"shop/__init__\.py: populate leaves out the table 'boxes'"):
        load_domain(write(**{"__init__.py": declared})).environment.populate(Random(1))


def test_a_folder_named_like_a_built_in_environment_is_not_loaded(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(write(**{"__init__.py": "raise RuntimeError('it ran')"}))
    monkeypatch.chdir(folder.parent)
    with pytest.raises(InputError, match=r"no environment 'shop'.*for the folder of that name write \./shop"):
        load_domain("shop")


def test_examples_of_rules_are_not_digested(write: Write) -> None:
    rules = "[[rules]]\nid = 'a'\n\n# Later.\n\n[[rules]]\nid = 'b'\n"
    examples = "\n[[rules.examples]]\nkept = '''\nPay()\n'''\n\n[[rules.examples]]\nbroken = 'Pay()'\n"
    plain = load_domain(write(rules__dot__toml=rules)).digest
    first, second = rules.split("\n# Later.")
    assert load_domain(write(rules__dot__toml=f"{first}{examples}\n# Later.{second}{examples}")).digest == plain
    assert load_domain(write(rules__dot__toml=f"{first}{examples}\n# Later.{second}id = 'c'\n")).digest != plain
