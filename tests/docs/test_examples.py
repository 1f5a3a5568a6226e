"""The examples in the README and in docs/ work: commands parse, recipes load, JSON lines are rows, links resolve."""

import re
import tomllib
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel

from lawtrace.runs.audit.sources.mapped_lines import LogMapping
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.rule_examples import run_examples
from lawtrace.solver.rules import read_rule_file
from tests.support.pages import LEGAL, PAGES, ROOT, blocks, check_command, commands, links

LAYERS = ("agents", "environments", "prompts", "runs", "solver")
FOLDERS = sorted({module.parent for layer in LAYERS for module in (ROOT / layer).rglob("*.py")})
READMES = [page for folder in FOLDERS if (page := folder / "README.md").exists() and "legal" not in folder.parts]
GUIDES = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
COMMANDS = [words for page in PAGES for words in commands(page) if not words.startswith("legal ")]
# docs/environments.md shows pieces of its example, which test_own_environment_page.py checks.
EXAMPLES = [page for page in PAGES if page.name != "environments.md"]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_parse(words: str) -> None:
    check_command(words)


@pytest.mark.parametrize("block", [block for page in EXAMPLES for block in blocks(page, "toml")])
def test_recipes_and_rules_are_valid(block: str, tmp_path: Path) -> None:
    content = tomllib.loads(block)
    if isinstance(content.get("rules"), list):
        file, domain = tmp_path / "rules.toml", load_domain("payments")
        file.write_text(block, encoding="utf-8")
        given = read_rule_file(file)
        assert all(rule.parsed for rule in given.rules)
        assert run_examples(given, domain.environment, domain.regulation) == ()
    elif "events" in content:
        LogMapping.model_validate(content)
    else:
        Recipe.model_validate(content)


@pytest.mark.parametrize("block", [block for page in EXAMPLES for block in blocks(page, "json")])
def test_program_lines_are_rows(block: str) -> None:
    for line in block.splitlines():
        Answer.model_validate_json(line)


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "recipes").glob("*.toml")), ROOT / "recipes" / "papers" / "logisafety.toml"],
    ids=lambda path: path.stem,
)
def test_included_recipes_load(path: Path) -> None:
    load_recipe(path)


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    for name in re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", page.read_text(encoding="utf-8")):
        path = name.replace("/E/", "/banking/")
        assert "legal/" in path or (page.parent / path).exists() or (ROOT / path).exists(), f"{page}: no {name}"


@pytest.mark.parametrize("page", [*PAGES, *GUIDES, *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for target in links(page):
        path = (page.parent / target).resolve()
        assert path.exists() or LEGAL in (path, *path.parents), f"{page.name}: no {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_benchmarks_exist(page: Path) -> None:
    for name in re.findall(r"(?<!tests/)benchmarks[/.]([\w/]+)", page.read_text(encoding="utf-8")):
        module = ROOT / "benchmarks" / name.removesuffix(".py").rstrip("/")
        assert module.is_dir() or module.with_suffix(".py").exists(), f"{page.name}: no {name}"


def test_the_recipe_page_lists_every_key_with_its_default() -> None:
    (block,) = blocks(ROOT / "docs" / "recipe.md", "toml")
    assert Recipe.model_validate(tomllib.loads(block)) == Recipe()
    with_examples = tomllib.loads(re.sub(r"^# ", "", block, flags=re.MULTILINE))
    with_examples.pop("ablation")
    assert _missing_keys(with_examples, Recipe.model_validate(with_examples)) == []


def _missing_keys(given: dict[str, object], options: BaseModel, prefix: str = "") -> list[str]:
    """The option keys, including nested ones, that are missing from `given`."""
    missing: list[str] = []
    for key in type(options).model_fields:
        inner = getattr(options, key)
        if key not in given and key not in {"schema_version", "ablation"}:
            missing.append(f"{prefix}{key}")
        elif isinstance(inner, BaseModel):
            missing += _missing_keys(cast("dict[str, object]", given[key]), inner, f"{prefix}{key}.")
    return missing
