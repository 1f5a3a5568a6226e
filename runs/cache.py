"""Coverage analyses that were made before: kept in the user's cache folder, found again only if nothing has changed.

The key is a hash over everything that an analysis follows from: the folder of the environment, the initial state and
the documentation that it gives (a declaration may read other files), the rules, what was asked for, the code of
lawtrace's lower floors and of every module of the user's, and the versions of what is installed. The entry repeats its
key and carries a hash of its own content; one that is damaged, or that another version wrote, is made anew.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random

from pydantic import BaseModel, TypeAdapter, ValidationError

import lawtrace.environments
import lawtrace.solver
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.cache_folder import cache_folder
from lawtrace.solver.coverage.coverage_analysis import CoverageAnalysis, StageProgress, analyse_coverage
from lawtrace.solver.planner.trace_spec import TraceProfile
from lawtrace.solver.rules import Rule

_ANALYSIS = TypeAdapter(CoverageAnalysis)


class _Entry(BaseModel):
    key: str
    sha256: str
    analysis: str


def coverage_of(
    setting: Domain,
    rules: Sequence[Rule],
    *,
    profile: TraceProfile,
    length: int,
    count: int,
    seed: int,
    stages: StageProgress | None = None,
    cached: bool = True,
) -> tuple[CoverageAnalysis, bool]:
    """The analysis, and whether it was made before. A cache folder that cannot be written to is done without.

    Raises what `lawtrace.solver.coverage.coverage_analysis.analyse_coverage` raises.
    """
    key = _key(setting, rules, (profile, length, count, seed))
    path = cache_folder("coverage") / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    if cached and (found := _read(path, key)) is not None:
        return found, True
    analysis = analyse_coverage(
        setting.environment, rules, profile=profile, length=length, count=count, seed=seed, stages=stages
    )
    if cached:
        _write(path, key, analysis)
    return analysis, False


def _read(path: Path, key: str) -> CoverageAnalysis | None:
    try:
        entry = _Entry.model_validate_json(path.read_bytes())
        if entry.key != key or entry.sha256 != _sha256(entry.analysis.encode()):
            return None
        return _ANALYSIS.validate_json(entry.analysis)
    except (OSError, ValidationError):
        return None


def _write(path: Path, key: str, analysis: CoverageAnalysis) -> None:
    text = _ANALYSIS.dump_json(analysis).decode()
    entry = _Entry(key=key, sha256=_sha256(text.encode()), analysis=text)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(entry.model_dump_json(), encoding="utf-8")
        partial.replace(path)
    with suppress(OSError):
        partial.unlink()


def _key(setting: Domain, rules: Sequence[Rule], asked: tuple[TraceProfile, int, int, int]) -> str:
    environment = setting.environment
    return json.dumps(
        {
            "declaration": setting.digest,
            "initial": encode_state(environment.populate(Random(asked[3])), environment.entities),
            "documentation": document(environment, hints=True),
            "rules": [(rule.id, rule.formula) for rule in rules],
            "asked": asked,
            "code": _code(),
            "installed": _installed(),
            "python": [platform.python_version(), platform.machine()],
        }
    )


def _code() -> list[tuple[str, str]]:
    """The modules that are neither Python's nor installed (ours, and those of a user's environment), by content."""
    paths = {key: Path(path).resolve() for key, path in sysconfig.get_paths().items()}
    foreign = (paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"])
    files: set[Path] = {
        file for floor in _lower_floors() for file in floor.rglob("*") if file.suffix in {".py", ".lark"}
    }
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).suffix == ".py" and not any(Path(file).resolve().is_relative_to(p) for p in foreign):
            files.add(Path(file).resolve())
    return [(str(file), _sha256(file.read_bytes())) for file in sorted(files) if file.is_file()]


def _lower_floors() -> list[Path]:
    return [Path(str(floor.__file__)).resolve().parent for floor in (lawtrace.environments, lawtrace.solver)]


@lru_cache(maxsize=1)
def _installed() -> list[str]:
    return sorted(f"{found.name} {found.version}" for found in importlib.metadata.distributions())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
