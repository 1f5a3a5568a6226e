"""The folder of an environment without state loads like any other, and refuses what needs a state."""

import json
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
    assert [path.name for path in written] == ["tools.json", "regulation.toml", "rules.toml"]
    domain = lawtrace.load_environment(folder)
    assert domain.environment.name == "my_files"
    assert domain.environment.signatures == {"read-file": ("path",), "drop": ("$id",)}
    (rule,) = lawtrace.load_rules(domain.rules_file, domain)
    assert rule.formula == "G(`drop` -> O user)"
    with pytest.raises(InputError, match="'my_files' has tools without state"):
        domain.environment.populate(Random(1))


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
    with pytest.raises(InputError, match=r"has both __init__\.py and tools\.json"):
        lawtrace.load_environment(tmp_path)
    with pytest.raises(InputError, match="declares the tools in Python"):
        write_tools_folder(tmp_path, [READ], force=True)


@pytest.mark.parametrize(("text", "name"), [("My Files-2", "my_files_2"), ("2024", "tools_2024"), ("Äß", "tools")])
def test_folders_give_names_of_environments(text: str, name: str) -> None:
    assert environment_name(text) == name
