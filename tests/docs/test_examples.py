"""What the README and docs/ show is true: commands parse, recipes load, JSON lines are rows."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import cast

import pytest
import typer
from pydantic import BaseModel
from typer.core import TyperGroup

from lawtrace.runs.cli.app import app
from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.schemas.task_rows import ProgramRow
from lawtrace.solver.rules import Rule

ROOT = Path(__file__).parents[2]
LEGAL = ROOT / "docs" / "legal" / "README.md"
FLOORS = ("agents", "environments", "prompts", "runs", "solver")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> list[str]:
    """Every indented line that calls lawtrace, without a comment behind it, and what the table of the README names."""
    found: list[str] = []
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            match = re.match(r"    (?:\.venv/bin/)?lawtrace (?P<words>[^#]+)", line)
            if match:
                found.append(match["words"].strip())
            if page.name == "README.md" and line.startswith("| "):
                found += re.findall(r"`lawtrace ([^`]+)`", line)
    return found


def blocks(language: str) -> list[str]:
    """The blocks of a language; docs/environments.md shows pieces of its example, which is checked beside this."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES if page.name != "environments.md"]
    return [block for page in pages for block in re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)]


@pytest.mark.parametrize("words", commands())
def test_every_command_shown_parses(words: str) -> None:
    command, arguments = typer.main.get_command(app), shlex.split(words)
    context = command.context_class(command)
    while isinstance(command, TyperGroup):
        _, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        command = found
    command.make_context("lawtrace", list(arguments))


@pytest.mark.parametrize("block", re.findall(r"```toml recipe\n(.*?)```", LEGAL.read_text(encoding="utf-8"), re.DOTALL))
def test_every_legal_recipe_shown_is_one(block: str) -> None:
    LegalRecipe.model_validate(tomllib.loads(block))


@pytest.mark.parametrize("block", blocks("toml"))
def test_every_recipe_and_every_rule_shown_is_one(block: str) -> None:
    shown = tomllib.loads(block)
    if isinstance(rules := shown.get("rules"), list):
        for rule in cast("list[object]", rules):
            assert Rule.model_validate(rule).parsed
    else:
        Recipe.model_validate(shown)


@pytest.mark.parametrize("block", blocks("json"))
def test_every_program_line_shown_is_one(block: str) -> None:
    for line in block.splitlines():
        ProgramRow.model_validate_json(line)


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.toml")), ids=lambda path: path.stem)
def test_every_recipe_that_ships_loads(path: Path) -> None:
    load_recipe(path)


@pytest.mark.parametrize("path", sorted((ROOT / "recipes" / "legal").glob("*.toml")), ids=lambda path: path.stem)
def test_every_legal_recipe_that_ships_loads(path: Path) -> None:
    load_legal_recipe(path)


FOLDERS = sorted({module.parent for floor in FLOORS for module in (ROOT / floor).rglob("*.py")})
READMES = [ROOT / "CONTRIBUTING.md", *(page for folder in FOLDERS if (page := folder / "README.md").exists())]


@pytest.mark.parametrize("page", READMES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_folder_tells_of_what_is_in_it(page: Path) -> None:
    for name in re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", page.read_text(encoding="utf-8")):
        place = name.replace("/E/", "/banking/")
        assert (page.parent / place).exists() or (ROOT / place).exists(), f"{page} names {name}, which is not there"


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_recipe_page_has_every_key_with_its_default() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "recipe.md").read_text(encoding="utf-8"), re.DOTALL)
    assert Recipe.model_validate(tomllib.loads(block)) == Recipe()
    in_full = re.sub(r"^# ", "", block, flags=re.MULTILINE)
    example = Recipe.model_validate({key: value for key, value in tomllib.loads(in_full).items() if key != "ablation"})
    assert _unset(example.model_dump(exclude_unset=True), example) == []


def _unset(said: dict[str, object], options: BaseModel, place: str = "") -> list[str]:
    """The keys of the options, and of those within, that were not said."""
    missing: list[str] = []
    for key in type(options).model_fields:
        inner = getattr(options, key)
        if key not in said and key not in {"schema_version", "ablation"}:
            missing.append(f"{place}{key}")
        elif isinstance(inner, BaseModel):
            missing += _unset(cast("dict[str, object]", said[key]), inner, f"{place}{key}.")
    return missing
