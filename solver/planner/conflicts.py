"""Conflicts: beginnings of tool sequences that no arguments, times and initial state carry.

Z3 proves a conflict for one beginning and names what stands in the way: refusals, missing knowledge, rules. Calls that
have nothing to do with these can be inserted or left out without helping, so the conflict is remembered without them:

    SearchGuests, RevokeGuestAccess, UnlockDoor, DeleteGuest, DeleteGuest
    is excluded by revoke-before-delete and "the guest does not exist", which the door does not concern:
    every beginning with SearchGuests, RevokeGuestAccess, DeleteGuest, DeleteGuest among the calls that concern guests

That a call has nothing to do with an obstacle is read off the declaration: no rule of the conflict names it, and it
writes and reveals no table that the obstacles depend on. Where a rule of the conflict counts steps or is about time,
every call matters.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.terms import tables_of
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool
from lawtrace.solver.ltlf import Formula
from lawtrace.solver.ltlf.syntax import Next, WeakNext, Yesterday, subformulas
from lawtrace.solver.ltlf.windows import Window
from lawtrace.solver.predicates import tools_named
from lawtrace.solver.smt.call_encoding import Obstacle

ToolSequence = tuple[str, ...]
Positions = tuple[int, ...]
"""Where a beginning stands in each group of conflicts."""

_ELSEWHERE: Final = -1


class Conflicts:
    """A trie for each set of tools that some conflict is about.

    A beginning is followed through all of them: its position in each is the node of its calls to these tools, or
    nowhere, if no conflict begins so.
    """

    def __init__(self) -> None:
        self._groups: dict[frozenset[str], _Trie] = {}

    @property
    def start(self) -> Positions:
        return (0,) * len(self._groups)

    def after(self, positions: Positions, tool: str) -> Positions | None:
        """The positions after one more call; None if the beginning is excluded."""
        following = list(positions)
        for number, (tools, trie) in enumerate(self._groups.items()):
            if tool in tools and positions[number] != _ELSEWHERE:
                node = trie.after(positions[number], tool)
                if node is None:
                    return None
                following[number] = node
        return tuple(following)

    def add(self, beginning: ToolSequence, tools: frozenset[str]) -> None:
        """Exclude every beginning with the same calls to these tools."""
        trie = self._groups.setdefault(tools, _Trie())
        trie.add([tool for tool in beginning if tool in tools])

    def __len__(self) -> int:
        return sum(len(trie.excluded) for trie in self._groups.values())


class _Trie:
    def __init__(self) -> None:
        self._children: list[dict[str, int]] = [{}]
        self.excluded: set[int] = set()

    def add(self, tools: Iterable[str]) -> None:
        node = 0
        for tool in tools:
            if tool not in self._children[node]:
                self._children[node][tool] = len(self._children)
                self._children.append({})
            node = self._children[node][tool]
        self.excluded.add(node)

    def after(self, node: int, tool: str) -> int | None:
        child = self._children[node].get(tool, _ELSEWHERE)
        return None if child in self.excluded else child


class Relevance:
    """Which tools and tables obstacles depend on, in one environment."""

    def __init__(self, environment: Environment, rules: dict[str, Formula]) -> None:
        self._environment = environment
        self._rules = rules
        self._effects = {
            name: {effect.entity.table for effect in tool.effects} for name, tool in environment.tools.items()
        }
        self._reveals = {
            name: {result.entity.table for result in tool.revealing_results} for name, tool in environment.tools.items()
        }

    def of(self, obstacles: Sequence[Obstacle]) -> tuple[frozenset[str], frozenset[str]]:
        """The tools and the tables that the obstacles depend on."""
        named = [self._rules[obstacle.text] for obstacle in obstacles if obstacle.kind == "rule"]
        everything = frozenset(self._environment.tools)
        tools = {obstacle.tool for obstacle in obstacles if obstacle.tool is not None}
        tools |= {tool for formula in named for tool in tools_named(formula) if tool in self._environment.tools}
        refused = {obstacle.tool for obstacle in obstacles if obstacle.kind == "precondition"}
        tables = {table for tool in refused if tool for table in self._refusal_tables(tool)}
        while True:
            tables |= {table for tool in tools for table in self._read(self._environment.tools[tool])}
            more = {name for name in everything if (self._effects[name] | self._reveals[name]) & tables}
            if any(self._is_derived(self._environment.tools[tool]) for tool in tools):
                more |= {name for name, tool in self._environment.tools.items() if tool.emits}
            if more <= tools:
                break
            tools |= more
        return frozenset(tools), frozenset(tables)

    def concerned(self, obstacles: Sequence[Obstacle]) -> frozenset[str]:
        """The tools of which a call can help or harm; all others can be inserted without changing anything."""
        named = [self._rules[obstacle.text] for obstacle in obstacles if obstacle.kind == "rule"]
        tools, _ = self.of(obstacles)
        return frozenset(self._environment.tools) if any(map(_counts_steps, named)) or not tools else tools

    def helpers(self, obstacles: Sequence[Obstacle]) -> frozenset[str]:
        """The tools that a repair may insert: those that the obstacles are about, and those that let time pass."""
        waits = {name for name, tool in self._environment.tools.items() if not isinstance(tool.duration, int)}
        return self.of(obstacles)[0] | waits

    def _refusal_tables(self, tool: str) -> Collection[str]:
        return set[str]().union(*map(tables_of, self._environment.tools[tool].refusals))

    def _read(self, tool: Tool) -> set[str]:
        """The tables that decide what a call of the tool refers to, does and shows."""
        read = {p.source.entity.table for p in tool.parameters if isinstance(p.source, FromLookup)}
        terms = (term for part in (*tool.effects, *tool.results) for term in part.terms())
        return read.union(*map(tables_of, terms)) | self._effects[tool.name] | self._reveals[tool.name]

    @staticmethod
    def _is_derived(tool: Tool) -> bool:
        return any(isinstance(parameter.source, FromTrace) for parameter in tool.parameters)


def _counts_steps(formula: Formula) -> bool:
    """Whether calls that the rule does not name can matter to it: it counts steps, or is about time."""
    return any(
        isinstance(node, Next | WeakNext | Yesterday) or not getattr(node, "window", Window()).unlimited
        for node in subformulas(formula)
    )
