"""Project metadata files agree on the version and the licence."""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["version"]
    assert re.search(rf"^version: {re.escape(version)}$", text("CITATION.cff"), re.MULTILINE)
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1] == version  # pyright: ignore[reportOptionalSubscript]


def test_the_licence_is_the_same_everywhere() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert text("LICENSE").split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "\nlicense: Apache-2.0\n" in text("CITATION.cff")


def test_typed_means_typed() -> None:
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / "lawtrace" / "py.typed").exists()
