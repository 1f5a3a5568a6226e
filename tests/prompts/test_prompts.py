"""Prompt files load, declare exactly their inputs and are identified by their hash."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lawtrace.prompts
from lawtrace.prompts.loader import Prompts, load_prompt, prompt_ids
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import RolePromptOptions

FOLDER = Path(str(lawtrace.prompts.__file__)).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty prompt folder."""
    monkeypatch.setattr("lawtrace.prompts.loader._FOLDER", tmp_path)
    load_prompt.cache_clear()
    yield tmp_path
    load_prompt.cache_clear()


def write(folder: Path, body: str, *, inputs: str = '["who"]', id: str = "hello", more: str = "") -> None:  # noqa: A002
    front = f'+++\nid = "{id}"\nversion = 1\ninputs = {inputs}\noutput = "text"\n{more}+++\n'
    (folder / "hello.md").write_text(front + body, encoding="utf-8")
    load_prompt.cache_clear()


def test_every_file_is_a_prompt() -> None:
    files = [path for path in FOLDER.rglob("*.md") if path.stem != "README"]
    assert len(prompt_ids()) == len(files) >= 7
    assert {name.rpartition("/")[2] for name in prompt_ids()} == {path.stem for path in files}
    assert "README" not in prompt_ids()


@pytest.mark.parametrize("name", prompt_ids())
def test_prompt_takes_exactly_its_inputs(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.id == name
    assert prompt.version >= 1
    assert prompt.output == "text" or re.fullmatch(r"[A-Z]\w+", prompt.output)
    taken = [*prompt.inputs, *prompt.unused]
    filled = prompt.fill(**{given: f"<<{given}>>" for given in taken})
    assert filled.endswith("\n")
    assert "{{" not in filled
    assert "{%" not in filled
    assert "Undefined" not in filled
    for missing in prompt.inputs:
        with pytest.raises(InputError, match=f"prompt '{name}' takes"):
            prompt.fill(**{given: "-" for given in taken if given != missing})
    with pytest.raises(InputError, match=r"not .*surplus"):
        prompt.fill(**dict.fromkeys([*taken, "surplus"], "-"))


@pytest.mark.parametrize("name", prompt_ids())
def test_every_input_changes_the_prompt(name: str) -> None:
    """By its value, or by the branch that it selects."""
    prompt = load_prompt(name)
    plain = dict.fromkeys([*prompt.inputs, *prompt.unused], "")
    for given in prompt.inputs:
        variants = {prompt.fill(**{**plain, given: value}) for value in ("", "goal", "refuse", "whole", "none")}
        assert len(variants) > 1, given


@pytest.mark.parametrize("name", prompt_ids())
def test_hash_is_of_the_file(name: str) -> None:
    paths = FOLDER.rglob(f"{name}.md" if "/" in name else f"**/{name}.md")
    (path,) = [path for path in paths if (path.parent.name == "published") == name.startswith("published/")]
    text = path.read_text(encoding="utf-8")
    for part in ("rule_language", "environment_form", "fenced_data"):
        text = text.replace(f'{{% include "{part}" %}}\n', load_prompt(part).body)
    assert load_prompt(name).hash == hashlib.sha256(text.encode()).hexdigest()


def test_an_included_prompt_changes_text_and_hash(folder: Path) -> None:
    write(folder, '{% include "part" %}\nHello, {{ who }}.')
    with pytest.raises(InputError, match="unknown prompt 'part'"):
        load_prompt("hello")
    hashes = set[str]()
    for word in ("First", "Second"):
        (folder / "part.md").write_text(f'+++\nid = "part"\nversion = 1\ninputs = []\noutput = "text"\n+++\n{word}.\n')
        load_prompt.cache_clear()
        assert load_prompt("hello").fill(who="you") == f"{word}.\nHello, you.\n"
        hashes.add(load_prompt("hello").hash)
    assert len(hashes) == 2


@pytest.mark.parametrize("name", [name for name in prompt_ids() if not name.startswith("published/")])
def test_a_prompt_that_shows_texts_of_others_says_that_they_are_data(name: str) -> None:
    prompt, data = load_prompt(name), load_prompt("fenced_data").body
    shows = "```json" in prompt.body and "{{" in prompt.body and not name.startswith("executor_")
    assert (data in prompt.body) == (shows or name in ("fenced_data", "message_judge"))


def test_recipes_know_which_roles_have_a_published_prompt() -> None:
    assert RolePromptOptions.published == {path.stem for path in (FOLDER / "published").glob("*.md")}


@pytest.mark.parametrize("name", [name for name in prompt_ids() if name.startswith("published/")])
def test_a_published_prompt_fits_the_role(name: str) -> None:
    role = name.removeprefix("published/")
    assert Prompts({role: "published"})[role] == load_prompt(name)
    assert Prompts()[role] == load_prompt(role) != load_prompt(name)


def test_hash_changes_with_the_text(folder: Path) -> None:
    write(folder, "Hello, {{ who }}.")
    first = load_prompt("hello")
    write(folder, "Hello, {{ who }}!")
    second = load_prompt("hello")
    assert first.fill(who="you") == "Hello, you.\n"
    assert second.fill(who="you") == "Hello, you!\n"
    assert first.hash != second.hash
    write(folder, "Hello, {{ who }}.")
    assert load_prompt("hello").hash == first.hash


def test_values_are_not_escaped(folder: Path) -> None:
    write(folder, "{{ who }}")
    given = "<b> & {{ who }} {% if %} 'quoted' \"too\""
    assert load_prompt("hello").fill(who=given) == given + "\n"


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("Hello, {{ whom }}.", {}, r"exactly the inputs \['whom'\]"),
        ("Hello.", {}, r"exactly the inputs \[\]"),
        ("Hello, {{ who }}, {{ other }}.", {}, r"exactly the inputs \['other', 'who'\]"),
        ("Hello, {{ who }}.", {"id": "bye"}, "must declare id 'hello'"),
        ("Hello, {{ who }.", {}, r"prompts/hello\.md: "),
        ("Hello, {{ who }}.", {"inputs": "["}, r"prompts/hello\.md: "),
        ("Hello, {{ who }}.", {"more": 'tone = "x"\n'}, r"(?s)prompts/hello\.md: .*tone"),
    ],
)
def test_error_names_the_file_and_the_mistake(folder: Path, body: str, options: dict[str, str], message: str) -> None:
    write(folder, body, **options)
    with pytest.raises(InputError, match=message):
        load_prompt("hello")


def test_missing_front_matter_is_an_error(folder: Path) -> None:
    (folder / "hello.md").write_text("Hello.", encoding="utf-8")
    with pytest.raises(InputError, match=r"prompts/hello\.md"):
        load_prompt("hello")


def test_unknown_prompt_error_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown prompt 'nothing'; known are "):
        load_prompt("nothing")
