"""The wheel holds one package, `lawtrace`, and works outside the checkout, beside a distribution that owns `agents`."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source") / "lawtrace"
    left_out = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "logs", "tests", "docs")
    shutil.copytree(ROOT, source, symlinks=True, ignore=left_out)  # pip leaves a folder `build` where it builds
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_it_holds_lawtrace_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"lawtrace"}
    source = [path for folder in ("agents", "environments", "prompts", "runs", "solver") for path in _files(folder)]
    assert {f"lawtrace/{path}" for path in source} <= set(names)
    assert {"lawtrace/__init__.py", "lawtrace/py.typed"} <= set(names)


def test_it_works_beside_another_package_named_agents(wheel: Path, tmp_path: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    options = ["--no-deps", "--no-index", "--quiet", "--target", site]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    for name in ("agents", "runs"):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("class Agent: ...\n", encoding="utf-8")
    code = "import agents, lawtrace; print(agents.Agent.__name__, lawtrace.__file__)"
    assert _python(site, work, "-c", code).split() == ["Agent", str(site / "lawtrace" / "__init__.py")]
    recipe = work / "small.toml"
    recipe.write_text("[tasks]\ncount = 1\nspare = 4\n", encoding="utf-8")
    _python(site, work, "-m", "lawtrace", "run", "small.toml", "--out", "run")
    assert (work / "run" / "report.html").is_file()


def _files(folder: str) -> list[Path]:
    kinds = {".py", ".toml", ".jinja", ".css", ".js", ".lark"}
    return [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.suffix in kinds]


def _python(site: Path, work: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *words], cwd=work, env=environment, capture_output=True, text=True, check=True
    ).stdout
