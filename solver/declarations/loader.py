"""Loader of environment folders: declaration, regulation and curated rules.

    airline/
      environment.toml   the declaration as data (`lawtrace.solver.declarations.world_file`)
      __init__.py        or instead: Python that declares ENVIRONMENT; may import modules beside it
      tools.json         tools without state, as schemas (`lawtrace.environments.tool_schemas`): taken while
                         environment.toml is not there, or declares no tables yet
      regulation.toml    the restated provisions (`lawtrace.environments.regulations.regulation`)
      rules.toml         the curated rule set
      published.toml     optional: the rules as published, the reference for extracted rules
      dockets.toml       optional: rules of the manual that hold in dockets only

Built-in and user environments have the same layout. Loading a folder **runs its Python**, so a folder is loaded only if
a user names it, never because a data file does. A folder with ``environment.toml`` or ``tools.json`` has no Python
that runs.

The modules of a user's folder get a package name made from path and content: equal module names in two folders do not
clash, and a changed folder is loaded again. A failed load leaves no modules behind.

A name that contains a separator (``./airline``, ``/srv/airline``) or is ``.`` is a folder; any other name is a built-in
environment. So a folder with the name of a built-in environment is never loaded by accident.
"""

import difflib
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import cast

from lawtrace.environments.regulations.regulation import Regulation, load_regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.validation import DeclarationError
from lawtrace.environments.tool_schemas.reading import read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import environment_name, make_environment
from lawtrace.schemas.errors import InputError

WORLD = "environment.toml"
DECLARATION = "__init__.py"
REGULATION = "regulation.toml"
TOOLS = "tools.json"
RULES = "rules.toml"
PUBLISHED = "published.toml"
DOCKETS = "dockets.toml"
_DIGESTED_SUFFIXES = {".py", ".toml", ".json"}
_EXAMPLES = re.compile(rb"^\n?\[\[(?:rules\.)?examples\]\].*?(?=^\n*(?:\[\[rules\]\]|#)|\Z)", re.DOTALL | re.MULTILINE)
_DOC_PAGE = "docs/environments.md"
_REFERENCE = "docs/declaration.md"


@dataclass(frozen=True, slots=True)
class Domain:
    """An environment with its regulation and the file of its curated rule set.

    Attributes:
        digest: SHA-256 of the folder's Python, JSON and TOML files, in hexadecimal; not the examples of rules, which
            change no verdict.
        folder: the folder that it was loaded from.
    """

    environment: Environment
    regulation: Regulation
    rules_file: Path
    digest: str
    folder: Path

    @property
    def gold_file(self) -> Path:
        """The reference for extracted rules: the published rules if there are any, else the curated ones.

        Curated rules may say more than a legal text does, in constructs that only this rule language has.
        """
        published = self.folder / PUBLISHED
        return published if published.is_file() else self.rules_file

    @property
    def docket_rules_file(self) -> Path | None:
        """The rules that hold in dockets only, if there are any."""
        file = self.folder / DOCKETS
        return file if file.is_file() else None

    def for_dockets(self) -> "Domain":
        """The same environment with the entries of the manual that hold in dockets."""
        law = self.regulation
        shown = {"manual": (*law.manual, *law.docket_manual), "docket_manual": ()}
        return self.with_regulation(law.model_copy(update=shown))

    def with_regulation(self, regulation: Regulation) -> "Domain":
        """The same environment with another regulation."""
        return replace(self, regulation=regulation)

    def restricted_to(self, tools: Collection[str]) -> "Domain":
        """The same environment with only these tools, its compliance tools, and the tool that declines requests."""
        environment = self.environment
        wanted = {*tools, environment.declines}
        kept = {name: tool for name, tool in environment.tools.items() if name in wanted or tool.compliance}
        return replace(self, environment=replace(environment, tools=kept))


def load_folder(folder: Path) -> Domain:
    """Load the environment of a user's folder, which runs its Python if it has some.

    Raises InputError naming file, line and remedy: for a missing file, failing Python, or an invalid declaration.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise InputError(
            f"{folder}: folder not found; an environment is a folder with {WORLD}, {DECLARATION} or {TOOLS} "
            f"({_DOC_PAGE})"
        )
    found = [name for name in (WORLD, DECLARATION, TOOLS) if (folder / name).is_file()]
    if DECLARATION in found and len(found) > 1:
        other = next(name for name in found if name != DECLARATION)
        raise InputError(f"{folder}: has both {DECLARATION} and {other}; keep the one that declares the tools")
    for name in (found[0] if found else WORLD, REGULATION, RULES):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: not found; the folder of an environment needs it ({_DOC_PAGE})")
    regulation, digest = load_regulation(folder / REGULATION), _digest(folder)
    environment = _import_folder(folder, digest) if DECLARATION in found else _read_declaration(folder, found)
    return Domain(environment, regulation, folder / RULES, digest, folder)


def _read_declaration(folder: Path, found: Collection[str]) -> Environment:
    """The environment that is declared as data; of tools without state as long as there are no tables."""
    name = environment_name(folder.name)
    if WORLD in found:
        from lawtrace.solver.declarations.world_file import read_world_file  # with the parser, which few need

        if (environment := read_world_file(folder / WORLD, name)) is not None:
            return environment
        if TOOLS not in found:
            raise InputError(f"{folder / WORLD}: declares no tables; an environment has some ({_DOC_PAGE})")
    return make_environment(name, read_tool_schemas([str(folder / TOOLS)]))


def _import_folder(folder: Path, digest: str) -> Environment:
    """Import the folder's package, once for each content."""
    place = hashlib.sha256(os.fsencode(folder)).hexdigest()
    name = f"lawtrace_environment_{place[:12]}_{digest[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / DECLARATION, submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with _no_bytecode():
                spec.loader.exec_module(module)
            module.__dict__["ENVIRONMENT"] = _with_checked_populate(_declared(module, folder), folder, name)
        except BaseException as error:
            for loaded in [other for other in sys.modules if other == name or other.startswith(f"{name}.")]:
                del sys.modules[loaded]
            if isinstance(error, Exception | SystemExit) and not isinstance(error, _NotDeclared):
                raise InputError(_describe_failure(folder, name, error)) from error
            raise
    return _declared(sys.modules[name], folder)


def _with_checked_populate(environment: Environment, folder: Path, package: str) -> Environment:
    """Wrap ``populate``, which runs long after loading, so that its exceptions name file and line in the folder."""

    def populate(random: Random) -> State:
        try:
            state = cast("object", environment.populate(random))
        except Exception as error:
            raise InputError(f"populate: {_describe_failure(folder, package, error)}") from error
        if not isinstance(state, State):
            place = folder / DECLARATION
            raise InputError(f"{place}: populate returns a {type(state).__name__}; let it return a State")
        if missing := sorted(environment.entities.keys() - state.tables.keys()):
            raise InputError(
                f"{folder / DECLARATION}: populate leaves out the table {missing[0]!r}; give it rows or ()"
            )
        return state

    return replace(environment, populate=populate)


class _NotDeclared(InputError):
    """The folder's Python runs but declares no valid environment."""


@contextmanager
def _no_bytecode() -> Generator[None]:
    """Import without bytecode files: they count as fresh for a second, which would hide a quick change."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _describe_failure(folder: Path, package: str, error: BaseException) -> str:
    """File and line in the folder, and the error message."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: not Python: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_inside(folder, frame.filename)]
    place = f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else str(folder / DECLARATION)
    if isinstance(error, DeclarationError) and _is_inside(folder, error.place[0]):
        place = "{}, line {}".format(*error.place)
    if isinstance(error, DeclarationError) or (isinstance(error, TypeError) and "__init__() " in str(error)):
        return f"{place}: {error} ({_REFERENCE})"
    if isinstance(error, InputError):
        return f"{place}: {error}"
    if isinstance(error, ModuleNotFoundError) and _is_sibling(folder, error.name, package):
        sibling = str(error.name).rpartition(".")[2]
        return f"{place}: there is no module {error.name!r}; write `from . import {sibling}` for one in this folder"
    message = f": {error}" if str(error) else ""
    return f"{place}: {type(error).__name__}{message}"


def _is_inside(folder: Path, filename: str) -> bool:
    return Path(filename).is_relative_to(folder)


def _is_sibling(folder: Path, name: str | None, package: str) -> bool:
    if name is None or name.startswith(package):
        return False
    first = name.partition(".")[0]
    return (folder / f"{first}.py").exists() or (folder / first).is_dir()


def _declared(module: ModuleType, folder: Path) -> Environment:
    """Return the module's ENVIRONMENT. Raises _NotDeclared."""
    place = folder / DECLARATION
    names = vars(module)
    if "ENVIRONMENT" not in names:
        nearest = difflib.get_close_matches("ENVIRONMENT", [name for name in names if not name.startswith("_")], 1)
        meant = f"; is {nearest[0]!r} meant to be it?" if nearest else "; end it with ENVIRONMENT = Environment(...)"
        raise _NotDeclared(f"{place}: does not declare ENVIRONMENT{meant}")
    environment = names["ENVIRONMENT"]
    if not isinstance(environment, Environment):
        raise _NotDeclared(
            f"{place}: ENVIRONMENT is of type {type(environment).__name__}; it must be an "
            "lawtrace.environments.spec.Environment"
        )
    if not re.fullmatch(r"[a-z][a-z0-9_]*", environment.name):
        raise _NotDeclared(
            f"{place}: the environment's name is {environment.name!r}; files and commands use it, so write lower-case "
            "letters, digits and _ only"
        )
    return environment


def _digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(environment_files(folder)):
        content = _EXAMPLES.sub(b"", path.read_bytes()) if path.name == RULES else path.read_bytes()
        whole.update(os.fsencode(path.relative_to(folder).as_posix()) + f"\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def environment_files(folder: Path) -> Iterator[Path]:
    """The files of an environment that its digest covers."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        for name in files:
            if Path(name).suffix in _DIGESTED_SUFFIXES:
                yield Path(place, name)


PAPER_DOMAINS = ("banking", "telehealth", "smart_home")
"""The environments of LogiSafetyBench, with its tools and the regulations that it takes."""
BUILT_IN_DOMAINS = (*PAPER_DOMAINS, "payments", "clinic", "privacy_desk")
"""Names of the built-in environments, which are the packages beside this file."""


def is_folder(where: str) -> bool:
    """Whether the argument names a folder rather than a built-in environment."""
    return where in {".", ".."} or "/" in where or "\\" in where


def load_domain(where: str) -> Domain:
    """Load a built-in environment by name, or a folder, whose Python runs.

    Raises InputError: for an unknown name, listing the known ones; for an invalid folder, naming file, line and remedy.
    """
    if not is_folder(where):
        return _built_in(where)
    domain = load_folder(Path(where).expanduser())
    if domain.environment.name in BUILT_IN_DOMAINS:
        raise InputError(
            f"{domain.folder}: declares an environment named {domain.environment.name!r}, like a built-in one; "
            "files name an environment by this name, so give it one of its own"
        )
    return domain


@lru_cache
def _built_in(name: str) -> Domain:
    if name in BUILT_IN_DOMAINS:
        module = importlib.import_module(f"lawtrace.environments.domains.{name}")
        folder = Path(str(module.__file__)).parent
        regulation = load_regulation(folder / REGULATION)
        return Domain(_declared(module, folder), regulation, folder / RULES, _digest(folder), folder)
    nearest = difflib.get_close_matches(name, BUILT_IN_DOMAINS, 1)
    meant = f"did you mean {nearest[0]!r}? " if nearest else ""
    hint = f"; for the folder of that name write ./{name}" if Path(name).is_dir() else ""
    raise InputError(f"there is no environment {name!r}; {meant}built in: {', '.join(BUILT_IN_DOMAINS)}{hint}")
