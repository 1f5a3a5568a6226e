"""``lawtrace env draft``: let a model write an environment for given tools."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from lawtrace.agents.roles.world_roles import WORLD_CRITIC, WORLD_WRITER
from lawtrace.environments.tool_schemas.folder import write_tools_folder
from lawtrace.environments.tool_schemas.reading import find_tool_schemas
from lawtrace.environments.tool_schemas.schemas import environment_name
from lawtrace.runs.audit.replay import Fidelity
from lawtrace.runs.audit.sources.reading import find_files, read_transcripts
from lawtrace.runs.audit.world_checks import WorldChecks, split, undeclared_parts
from lawtrace.runs.audit.world_drafts import DraftFidelity, WorldResult, make_world, read_policy
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, override, recipe_flags
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.recipe_checks import check_prices
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import percent, visible
from lawtrace.runs.runner import Session
from lawtrace.schemas.call_options import ConversationOptions
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS

DEFAULTS = ConversationOptions(rounds=6, deadline_seconds=900)
"""A declaration takes longer to write than an instruction."""


@recipe_flags(*MODEL_CALLS, recipe=False, env=None)
def env_draft(
    flags: RecipeFlags,
    schemas: Annotated[list[str], typer.Argument(help="Tool schemas, as of `env from-tools`.")],
    model: Annotated[str, typer.Option(help="Model that writes, such as openai:NAME.")],
    out: Annotated[Path, typer.Option(help="Folder of the environment; the log goes next to it.")],
    policy: Annotated[Path | None, typer.Option(help="Page of the policy, of which rules are written.")] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(metavar="<path>", help="Recorded conversations; every third is held out. Repeatable."),
    ] = None,
    critic: Annotated[str | None, typer.Option(help="Model that objects; default: the one that writes.")] = None,
) -> CommandResult:
    """Let a model write an environment for tools, and check it.

    Recorded calls are compared with it. The same command again continues. Exit code 1 if something is left to do.
    """
    name = environment_name(out.resolve().name)
    if name in BUILT_IN_DOMAINS:
        raise InputError(f"{out}: would be named {name!r}, like a built-in environment; choose another folder")
    tools = find_tool_schemas(schemas).schemas
    transcripts = list(chain.from_iterable(map(read_transcripts, find_files(logs or []))))
    readable = [replace(one, place=Path(one.place).name) for one in transcripts if one.trouble is None]
    seen, held_out = split(readable)
    checks = WorldChecks(name, tools, read_policy(policy) if policy else None, seen)
    named = {"models.policy_extractor": model, "models.ltl_critic": critic or model}
    recipe = override(replace(flags, values={**flags.values, **named}), Recipe(conversation=DEFAULTS))
    check_prices(recipe, [model, critic or model])
    models = {WORLD_WRITER.name: ModelSpec.parse(model), WORLD_CRITIC.name: ModelSpec.parse(critic or model)}

    async def work(session: Session) -> WorldResult:
        write_tools_folder(out, tools, force=True)
        return await make_world(session, recipe, models, checks, out)

    command = f"env draft {' '.join(schemas)}"
    result = run_stages(recipe, out, command, work, force=flags.force, sandbox=False)
    drafted = result.drafted
    if result.domain is None:
        if drafted.best is None:
            raise OperationalError(f"nothing was written, run the command again: {drafted.failure}")
        raise OperationalError(
            f"no draft of {drafted.drafts} could be used; the best is {out}/environment.toml: {drafted.best.errors[0]}"
        )
    fidelity = DraftFidelity.of(result.domain, seen, held_out)
    assert drafted.best is not None
    unread = [one for one in result.groups if not one.is_read]
    return CommandResult(
        _as_json(result, fidelity, out),
        _shown(result, fidelity, out),
        notes=[f"{one.group} is not read; run the command again: {one.failure}" for one in unread],
        exit_code=1 if unread or drafted.failure or result.trouble or not drafted.best.is_clean else 0,
    )


def _tools(result: WorldResult, fidelity: DraftFidelity) -> dict[str, list[str]]:
    """What is not declared of each tool."""
    assert result.domain is not None
    both = (fidelity.seen, fidelity.held_out)
    return {
        name: [*dict.fromkeys(part for found in both for part in undeclared_parts(tool, found))]
        for name, tool in result.domain.environment.tools.items()
    }


def _fields(found: Fidelity, tool: str | None = None) -> dict[str, Json]:
    equal, determined = found.share(tool)
    unknown = sum(n for (name, _, said), n in found.counts.items() if said == "unknown" and tool in (None, name))
    return {"equal": equal, "different": determined - equal, "unknown": unknown}


def _as_json(result: WorldResult, fidelity: DraftFidelity, out: Path) -> Mapping[str, object]:
    best = result.drafted.best
    assert best is not None
    parts = {"seen": fidelity.seen, "held_out": fidelity.held_out, "held_out_many_changes": fidelity.many_changes}
    return {
        "folder": str(out),
        "drafts": result.drafted.drafts,
        "tools": {
            name: {"undeclared": undeclared, "held_out": _fields(fidelity.held_out, name)}
            for name, undeclared in _tools(result, fidelity).items()
        },
        "fidelity": {
            name: {"conversations": found.transcripts, "calls": found.calls.total(), **_fields(found)}
            for name, found in parts.items()
        },
        "findings": [*best.findings],
        "differences": [*best.differences],
        "objections": [*result.drafted.objections],
        "policy": [
            {"citation": one.citation, "kind": one.kind, "rules": [*one.rules], "because": one.because}
            for one in result.sentences
        ],
        "rules": len(result.rules),
        "traces": result.traces,
        "trouble": result.trouble,
    }


def _shown(result: WorldResult, fidelity: DraftFidelity, out: Path) -> Iterator[RenderableType]:
    best = result.drafted.best
    assert best is not None
    yield from (Note(visible(f"Finding: {one}")) for one in best.findings)
    yield from (Note(visible(f"Difference: {one}")) for one in best.differences)
    yield from (Note(visible(f"The critic objects: {one}")) for one in result.drafted.objections)
    if result.trouble:
        yield Note(visible(f"No rules were written: {result.trouble}. Correct the declaration, then `rules extract`"))
    tools, held_out = _tools(result, fidelity), fidelity.held_out
    rows = [
        (name, held_out.calls[name], "/".join(map(str, _fields(held_out, name).values())), "; ".join(undeclared))
        for name, undeclared in tools.items()
    ]
    yield make_table(("tool", "calls held out", "equal/different/unknown", "not declared"), rows)
    if result.sentences:
        told = ((one.citation, one.kind, ", ".join(one.rules) or one.because) for one in result.sentences)
        yield make_table(("sentence", "is", "rules, or why there is none"), told)
        traces = result.traces
        yield f"Sample traces: {traces if isinstance(traces, int) else f'none; {traces}'}"
    for what, found in (
        ("seen", fidelity.seen),
        ("held-out", fidelity.held_out),
        ("held-out conversations with three or more changes", fidelity.many_changes),
    ):
        yield _fidelity(what, found)
    complete = sum(not undeclared for undeclared in tools.values())
    folder = out if out.is_absolute() else f"./{out}"
    yield (
        f"{complete} of {len(tools)} tools are complete, {len(result.rules)} rules, "
        f"{result.drafted.drafts} drafts. Written: {out}; next: `lawtrace env check {folder}`"
    )


def _fidelity(what: str, found: Fidelity) -> str:
    equal, determined = found.share()
    share = f"{percent(equal / determined)} of {determined} determined fields are equal" if determined else "No field"
    return f"Calls of {what}: {share}, in {found.transcripts} conversations; {found.unknown} unknown."
