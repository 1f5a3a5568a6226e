"""What code finds in a drafted environment: against the schemas of its tools, by itself, and against recorded calls."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lawtrace.agents.roles.world_roles import DraftReport, WorldDraft
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Delete, Effect, Insert, InsertEach, Update
from lawtrace.environments.spec.expressions import RowVariable, Term, Undeclared
from lawtrace.environments.spec.open_types import OrNull
from lawtrace.environments.spec.terms import item_variable
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import ValueType
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool
from lawtrace.runs.audit.replay import Fidelity, replay
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.runs.report.text import cut
from lawtrace.schemas.errors import InputError, near_names
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import WORLD
from lawtrace.solver.declarations.world_file import read_world_file
from lawtrace.solver.lint.declarations import lint_declaration

HELD_OUT: Final = 3
"""Every third conversation is kept from the models."""
_SHOWN_DIFFERENCES: Final = 15
_SHOWN_CALLS: Final = 4
"""Of each tool."""
_SHOWN_CONVERSATIONS: Final = 3
_SHOWN_CHARACTERS: Final = 1200
"""Of a result."""


def split(transcripts: Sequence[Transcript]) -> tuple[list[Transcript], list[Transcript]]:
    """Those that the models may see, and those held out; the same for the same files."""
    held = [one for number, one in enumerate(transcripts, 1) if number % HELD_OUT == 0]
    return [one for number, one in enumerate(transcripts, 1) if number % HELD_OUT], held


def sample_calls(transcripts: Sequence[Transcript]) -> str:
    """Recorded calls for a model, as JSON: some of each tool, as different as can be, and whole conversations."""
    told = [[*_calls(one)] for one in transcripts]
    by_tool: dict[str, list[Mapping[str, Json]]] = {}
    shapes = set[tuple[str, ...]]()
    for call in (call for calls in told for call in calls):
        given, result = call["arguments"], call["result"]
        shape = (str(call["tool"]), *sorted(given if isinstance(given, dict) else ()), str(result)[:12])
        if shape not in shapes and len(by_tool.setdefault(shape[0], [])) < _SHOWN_CALLS:
            shapes.add(shape)
            by_tool[shape[0]].append({name: value for name, value in call.items() if name != "tool"})
    longest = sorted(told, key=lambda calls: -len({str(call["tool"]) for call in calls}))[:_SHOWN_CONVERSATIONS]
    return json.dumps({"by tool": by_tool, "conversations": longest}, indent=1, ensure_ascii=False)


def _calls(transcript: Transcript) -> Iterator[Mapping[str, Json]]:
    for turn in transcript.turns:
        if (call := turn.call) is not None and call.caller == "agent" and call.answer is not None:
            arguments, result = dict(call.arguments or {}), call.answer.error or call.answer.content
            text = json.dumps(result, ensure_ascii=False)
            shown = result if len(text) <= _SHOWN_CHARACTERS else cut(text, _SHOWN_CHARACTERS)
            yield {"tool": call.tool, "arguments": arguments, "result": shown}


@dataclass(frozen=True)
class WorldChecks:
    """The checks of drafts for some tools.

    Attributes:
        name: of the environment.
        policy: its sentences; None without one.
        seen: the recorded conversations that the draft may be compared with.
    """

    name: str
    schemas: Sequence[ToolSchema]
    policy: Regulation | None
    seen: Sequence[Transcript]
    _classed: set[str] = field(default_factory=set[str])

    def report(self, declaration: str, draft: WorldDraft) -> DraftReport:
        """The report on a declaration, after the last answer of its writer."""
        self._classed.update(one.citation for one in draft.sentences)
        try:
            environment = self.read(declaration)
        except InputError as error:
            return DraftReport(declaration=declaration, errors=(str(error),))
        later = [name for name in draft.later if name not in environment.tools]
        errors = [*_misfits(environment, self.schemas, later), *([f"now declare {', '.join(later)}"] if later else [])]
        if errors:
            return DraftReport(declaration=declaration, errors=tuple(errors))
        found = replay(environment, self.seen)
        try:
            findings = (*self._unclassed(), *_findings(environment))
        except Exception as error:  # noqa: BLE001 (terms of a model; the writer is told)
            told = f"a check raises {type(error).__name__}: {error}; compare values of one type"
            return DraftReport(declaration=declaration, errors=(told,))
        equal, determined = found.share()
        return DraftReport(
            declaration=declaration,
            findings=findings,
            differences=tuple(found.first_differences(_SHOWN_DIFFERENCES)),
            undeclared=tuple(f"{what} ({number} times)" for what, number in found.undeclared.most_common()),
            equal=equal,
            recorded=determined + found.undeclared.total(),
        )

    def read(self, declaration: str) -> Environment:
        """The environment of a declaration. Raises InputError with all its errors."""
        with TemporaryDirectory() as folder:
            path = Path(folder, WORLD)
            path.write_text(declaration, encoding="utf-8")
            try:
                environment = read_world_file(path, self.name)
            except InputError as error:
                raise InputError(str(error).replace(str(path), WORLD)) from error
        if environment is None:
            raise InputError(f"{WORLD}: declares no tables")
        return environment

    def _unclassed(self) -> Iterator[str]:
        known = self.policy.by_citation if self.policy else {}
        if missing := [citation for citation in known if citation not in self._classed]:
            yield f"sentences of the policy without a class: {'; '.join(missing)}"
        for citation in sorted(self._classed - known.keys()):
            yield f"the policy has no sentence {citation!r}{near_names(citation, known)}"


def _findings(environment: Environment) -> Iterator[str]:
    """What `lawtrace env check` finds, but for the rules, which come later."""
    nothing = Regulation.model_construct(id="", title="", source="", restated=False, provisions=(), manual=())
    for issue in lint_declaration(environment, (), nothing):
        if not issue.undecided and "no rule names it" not in issue.what:
            yield f"{issue.place}: {issue.what}. Remedy: {issue.remedy}"


def _misfits(environment: Environment, schemas: Sequence[ToolSchema], later: Iterable[str]) -> Iterator[str]:
    """Where tools are not those of the schemas."""
    wanted = {one.name: declare_tool(one).tool for one in schemas}
    for name in environment.tools.keys() - wanted.keys() - {environment.declines}:
        yield f"tool {name!r}: there is no such tool{near_names(name, wanted)}"
    for name, schema in wanted.items():
        if (tool := environment.tools.get(name)) is not None:
            yield from _misfits_of_tool(tool, schema)
        elif name not in later:
            yield f"tool {name!r} is missing; declare it, or give the reason in its `undeclared`"


def _misfits_of_tool(tool: Tool, schema: Tool) -> Iterator[str]:
    known = {one.name: one for one in tool.parameters}
    wanted = {one.name: one for one in schema.parameters}
    for name in known.keys() - wanted.keys():
        yield f"tool {tool.name!r}: the schema has no parameter {name!r}{near_names(name, wanted)}"
    for name, one in wanted.items():
        if name not in known:
            yield f"tool {tool.name!r}: the parameter {name!r} is missing"
            continue
        here, there = _json_type(known[name].type), _json_type(one.type)
        if there and here != there and (here, there) != ("number", "integer"):
            yield f"tool {tool.name!r}: {name!r} is {there} in the schema, not {here}"
        if known[name].required != one.required:
            yield f"tool {tool.name!r}: {name!r} is {'required' if one.required else 'optional'} in the schema"


def _json_type(kind: ValueType) -> Json:
    return (kind.value if isinstance(kind, OrNull) else kind).schema().get("type")


def undeclared_parts(tool: Tool, found: Fidelity) -> list[str]:
    """What is not declared of a tool: what it does, values of effects, and recorded fields of its results."""
    if tool.undeclared is not None:
        return [tool.undeclared]
    open_values = [
        f"{effect.entity.table}.{name}"
        for effect in tool.effects
        for name, value in _values(effect).items()
        if any(isinstance(part, Undeclared) for part in value.walk())
    ]
    recorded = [what.partition(", ")[2] for what in found.undeclared if what.startswith(f"{tool.name}, ")]
    return [*open_values, *recorded]


def _values(effect: Effect) -> Mapping[str, Term]:
    match effect:
        case Update():
            return {name: effect.value(name, RowVariable(effect.entity)) for name in effect.values}
        case InsertEach():
            return effect.values(item_variable()[1])
        case Insert():
            return effect.values
        case Delete():
            return {}
