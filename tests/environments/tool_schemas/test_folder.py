"""The folder of an environment without state loads like any other, and refuses what needs a state."""

import json
import tomllib
from pathlib import Path
from random import Random

import pytest

import lawtrace
from lawtrace.environments.tool_schemas.folder import write_tools_folder
from lawtrace.environments.tool_schemas.schemas import ToolSchema, environment_name
from lawtrace.schemas.errors import InputError

READ = ToolSchema("read-file", "Reads.", {"properties": {"path": {"type": "string"}}}, None, "", {"readOnlyHint": True})
DROP = ToolSchema("drop", "Drops.", {"properties": {"$id": {"type": "string"}}}, {"type": "string"}, "")


def test_the_folder_loads_with_an_example_rule(tmp_path: Path) -> None:
    folder = tmp_path / "My Files"
    written = write_tools_folder(folder, [READ, DROP])
    assert [path.name for path in written] == ["environment.toml", "tools.json", "regulation.toml", "rules.toml"]
    domain = lawtrace.load_environment(folder)
    assert domain.environment.name == "my_files"
    assert domain.environment.signatures == {"read-file": ("path",), "drop": ("$id",)}
    (rule,) = lawtrace.load_rules(domain.rules_file, domain)
    assert rule.formula == "G(`drop` -> O user)"
    with pytest.raises(InputError, match="'my_files' has tools without state"):
        domain.environment.populate(Random(1))


def test_the_declaration_is_completed_by_tables(tmp_path: Path) -> None:
    kinds = {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "day": {"type": "string", "format": "date"}},
    }
    write_tools_folder(tmp_path / "shop", [ToolSchema("list_kinds", 'Lists "kinds".', kinds, None, "")])
    world = tmp_path / "shop" / "environment.toml"
    text = world.read_text(encoding="utf-8")
    read = tomllib.loads(text)["tools"]["list_kinds"]
    assert (read["summary"], read["parameters"]["kind"]["type"]) == ('Lists "kinds".', ["a", "b"])
    assert read["parameters"]["day"] == {"type": "date", "text": "", "optional": True}
    assert not lawtrace.load_environment(tmp_path / "shop").environment.simulated
    world.write_text(f'{text}\n[tables.days.fields]\nday = "date"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line \d+: say where a caller takes the value from"):
        lawtrace.load_environment(tmp_path / "shop")
    text = world.read_text(encoding="utf-8").replace('type = "date"', 'field = "days.day"')
    world.write_text(f'{text}[[initial]]\ntable = "days"\nvalues.day = "2026-03-02"\n', encoding="utf-8")
    assert lawtrace.load_environment(tmp_path / "shop").environment.populate(Random(1)).tables["days"]


def test_tools_are_replaced_only_on_request_and_the_rest_stays(tmp_path: Path) -> None:
    write_tools_folder(tmp_path, [READ])
    (tmp_path / "rules.toml").write_text("# mine", encoding="utf-8")
    with pytest.raises(InputError, match="--force replaces it, and keeps policy and rules"):
        write_tools_folder(tmp_path, [DROP])
    assert write_tools_folder(tmp_path, [DROP], force=True) == [tmp_path / "tools.json"]
    assert (tmp_path / "rules.toml").read_text(encoding="utf-8") == "# mine"
    assert [tool["name"] for tool in json.loads((tmp_path / "tools.json").read_text("utf-8"))["tools"]] == ["drop"]


def test_a_change_of_the_tools_changes_the_digest(tmp_path: Path) -> None:
    write_tools_folder(tmp_path, [READ])
    before = lawtrace.load_environment(tmp_path).digest
    write_tools_folder(tmp_path, [READ, DROP], force=True)
    assert lawtrace.load_environment(tmp_path).digest != before


def test_a_folder_declares_its_tools_once(tmp_path: Path) -> None:
    write_tools_folder(tmp_path, [READ])
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"has both __init__\.py and environment\.toml"):
        lawtrace.load_environment(tmp_path)
    with pytest.raises(InputError, match="declares the tools in Python"):
        write_tools_folder(tmp_path, [READ], force=True)


@pytest.mark.parametrize(("text", "name"), [("My Files-2", "my_files_2"), ("2024", "tools_2024"), ("Äß", "tools")])
def test_folders_give_names_of_environments(text: str, name: str) -> None:
    assert environment_name(text) == name
