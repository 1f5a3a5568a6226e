"""The examples on the page of the legal benchmark, and the links to it."""

import re
import tomllib
from pathlib import Path

import pytest

from lawtrace.runs.legal.legal_recipe import LegalRecipe, load_legal_recipe
from tests.support.pages import LEGAL, PAGES, ROOT, blocks, check_command, commands, links

PAGE = LEGAL / "README.md"
FOLDERS = sorted({module.parent for module in ROOT.glob("*/legal/**/*.py") if "tests" not in module.parts})
READMES = [page for folder in FOLDERS if (page := folder / "README.md").exists()]
COMMANDS = [words for page in [PAGE, *PAGES] for words in commands(page) if words.startswith("legal ")]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_parse(words: str) -> None:
    check_command(words)


@pytest.mark.parametrize("block", blocks(PAGE, "toml recipe"))
def test_recipes_are_valid(block: str) -> None:
    LegalRecipe.model_validate(tomllib.loads(block))


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "recipes" / "legal").glob("*.toml")), ROOT / "recipes" / "papers" / "maslegal.toml"],
    ids=lambda path: path.stem,
)
def test_included_recipes_load(path: Path) -> None:
    load_legal_recipe(path)


@pytest.mark.parametrize("page", [PAGE, *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_and_links_exist(page: Path) -> None:
    for name in re.findall(r"`([\w/]+(?:\.py|\.toml|/))`", page.read_text(encoding="utf-8")):
        assert (page.parent / name).exists() or (ROOT / name).exists() or page == PAGE, f"{page}: no {name}"
    for target in links(page):
        assert (page.parent / target).exists(), f"{page}: no {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_the_legal_page_resolve(page: Path) -> None:
    for target in links(page):
        assert (page.parent / target).exists(), f"{page.name}: no {target}"
