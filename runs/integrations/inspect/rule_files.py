"""Rules and tools as parameters of Inspect's approvers and scorers."""

from pathlib import Path

from lawtrace.environments.domains.loader import load_domain, load_tools
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.reading import is_tool_source
from lawtrace.schemas.errors import InputError
from lawtrace.solver.rules import Rule, check_rules, load_rules


def read_rules_and_tools(
    rules: str | None, tools: str | list[str] | None
) -> tuple[tuple[Rule, ...], Environment, Regulation | None]:
    """Rules, tools, and the regulation if there is one.

    ``tools``: a built-in environment, the folder of one, or files with tool schemas. ``rules``: by default those of the
    environment. Raises InputError if they do not fit together.
    """
    if not tools:
        raise InputError("name the tools: a built-in environment, its folder, or files with tool schemas")
    sources = [tools] if isinstance(tools, str) else tools
    domain = None if all(map(is_tool_source, sources)) else load_domain(sources[0])
    environment = load_tools(sources) if domain is None else domain.environment
    regulation = None if domain is None else domain.regulation
    file = domain.rules_file if rules is None and domain is not None else rules
    if file is None:
        raise InputError("name the rules: files with tool schemas have none")
    chosen = tuple(load_rules(Path(file).expanduser()))
    check_rules(chosen, environment, regulation if rules is None else None)
    return chosen, environment, regulation
