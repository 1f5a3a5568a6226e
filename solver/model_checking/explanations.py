"""The preconditions of tools in words: what the planner's facts demand before a call can complete."""

from collections import Counter
from collections.abc import Iterable

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool


def describe_preconditions(environment: Environment, tools: Iterable[str]) -> str:
    """A sentence on each precondition of these tools, in the order of the environment."""
    wanted = set(tools)
    return " ".join(
        sentence
        for name, tool in environment.tools.items()
        if name in wanted
        for sentence in _tool_preconditions(environment, tool)
    )


def _tool_preconditions(environment: Environment, tool: Tool) -> list[str]:
    sources = [parameter.source for parameter in tool.parameters]
    entities = {source.entity.table: source.entity for source in sources if isinstance(source, FromLookup)}
    counts = Counter(source.entity.table for source in sources if isinstance(source, FromLookup))
    sentences: list[str] = []
    for table, count in counts.items():
        lookups = [
            name
            for name, other in environment.tools.items()
            if any(r.entity.table == table for r in other.revealing_results)
        ]
        rows = _with_article(entities[table].singular) if count == 1 else f"{count} {table}"
        how = f"{' or '.join(lookups)} must have looked up" if lookups else "no tool looks up"
        sentences.append(f"{tool.name} refers to {rows}, which {how}.")
    if any(isinstance(source, FromTrace) for source in sources):
        emitting = " or ".join(name for name, other in environment.tools.items() if other.emits)
        how = f"after {emitting}" if emitting else "and no tool leaves anything pending"
        sentences.append(f"{tool.name} records what is pending, {how}.")
    return sentences


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
