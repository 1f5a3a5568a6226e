"""``lawtrace rules formalize``: independent formalizations of a regulation, compared by sessions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import Environment, StrictUndefined
from rich.console import RenderableType

from lawtrace.agents.conversations.formalization import (
    ANNOTATOR,
    FORMALIZER,
    FormalizedGroup,
    Formalizing,
    GivenJudgment,
    provision_groups,
)
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.rules_extract import read_regulation
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.recipe_checks import check_prices
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.stage import Made, Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.store.stage_store import Products, StageFile, stage_key
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ENDPOINTS, ModelSpec

FORMALIZED = StageFile("formalized.jsonl", FormalizedGroup)


@recipe_flags(*MODEL_CALLS)
def formalize(
    flags: RecipeFlags,
    document: Annotated[
        Path | None, typer.Argument(help="Regulation, published or restated (TOML); default: the environment's.")
    ] = None,
    models: Annotated[str, typer.Option(help="Models that write rules, separated by commas; two or more.")] = "",
    annotators: Annotated[str, typer.Option(help="Models that judge sessions, separated by commas.")] = "",
    provisions: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="Provisions or articles, as one group; default: each article. Repeatable."),
    ] = None,
    answers: Annotated[Path | None, typer.Option(help="Judgments of sessions by people (JSON lines).")] = None,
    out: Annotated[Path, typer.Option(help="Output file; rules, log and page go next to it.")] = Path(
        "formalized.jsonl"
    ),
) -> CommandResult:
    """Let models write rules independently, and compare what these allow.

    Exit code 1 if a group has fewer than two formalizations; run the command again to continue with it.
    """
    inputs = stage_recipe(flags, simulated=True)
    domain = inputs.domain
    regulation = domain.regulation if document is None else read_regulation(document, domain)
    groups = provision_groups(regulation, provisions or ())
    if not all(groups.values()):
        raise InputError(f"{regulation.id} has no provision {', '.join(provisions or ())}")
    writing, judging = _specs(models), _specs(annotators)
    if len(writing) < 2:
        raise InputError("name two models or more with --models, such as --models openai:NAME,anthropic:NAME")
    check_prices(inputs.recipe, [*map(str, writing), *map(str, judging)])
    given = [] if answers is None else read_rows(answers, GivenJudgment)

    async def work(session: Session) -> Products:
        stage = _stage(regulation, groups, writing, judging, given)
        return await session.runner(inputs, stages=(stage,)).make(FORMALIZED, incomplete=True)

    files = (out.with_suffix(".rules.jsonl"), out.with_suffix(".md"))
    command = f"rules formalize {document or domain.environment.name} {models}"
    products = run_stages(inputs.recipe, out, command, work, *files, force=flags.force, sandbox=False)
    found = products[FORMALIZED]
    FORMALIZED.write(out, found)
    rules = [rule for group in found for rule in group.rules]
    write_rows(files[0], rules)
    jinja = Environment(undefined=StrictUndefined, trim_blocks=True, autoescape=False)  # noqa: S701 (Markdown)
    page = jinja.from_string(Path(__file__).with_suffix(".md.jinja").read_text(encoding="utf-8"))
    shown = {"regulation": regulation, "environment": domain.environment.name, "groups": found}
    files[1].write_text(page.render(shown) + "\n", encoding="utf-8")
    counted = Counter(group.determinacy for group in found)
    asked = sum(bool(session.judgments) for group in found for session in group.sessions)
    return CommandResult(
        {"groups": dict(counted), "rules": len(rules), "questions": asked, "out": str(out), "page": str(files[1])},
        _shown(found, files),
        exit_code=1 if counted["not read"] else 0,
    )


def _specs(models: str) -> list[ModelSpec]:
    specs = [ModelSpec.parse(name.strip()) for name in models.split(",") if name.strip()]
    for spec in specs:
        if spec.provider not in {*ENDPOINTS, "replay"}:
            raise InputError(f"{spec} cannot write or judge rules; name the model of an endpoint")
    return specs


def _stage(
    regulation: Regulation,
    groups: Mapping[str, Sequence[Provision]],
    writing: Sequence[ModelSpec],
    judging: Sequence[ModelSpec],
    given: Sequence[GivenJudgment],
) -> Stage[StageInputs, StageContext]:
    """The stage that makes `FORMALIZED`."""

    def depends(inputs: StageInputs) -> dict[str, object]:
        return {
            **inputs.environment_key(),
            "regulation": stage_key(regulation),
            "groups": {name: [provision.citation for provision in part] for name, part in groups.items()},
            "models": [[*map(str, writing)], [*map(str, judging)]],
            "prompts": [inputs.prompts[role.name].hash for role in (FORMALIZER, ANNOTATOR)],
            "parameters": inputs.recipe.parameters,
            "rounds": inputs.recipe.conversation.rounds,
            "answers": [answer.model_dump() for answer in given],
        }

    async def run(context: StageContext, _: Products) -> Made:
        def models_of(role: str, spec: ModelSpec) -> RoleModels:
            return RoleModels(context.clients, {role: spec}, context.recipe.parameters, context.prompts)

        formalizing = Formalizing(
            environment=context.domain.environment,
            regulation=regulation,
            models_of=models_of,
            formalizers=writing,
            annotators=judging,
            answers=given,
            context=Context(stage="formalization", role=FORMALIZER.name),
            event_log=context.event_log,
            rounds=context.recipe.conversation.rounds,
            trials=1 + context.resumed,
        )
        with context.progress.stage("groups of provisions", len(groups)) as step:
            found = await formalizing.groups(groups, step)
        unread = any(one.stopped or any(by.failure for by in one.formalizations) for one in found)
        return Made(complete=not unread).add(FORMALIZED, found)

    return Stage(name="formalization", produces=(FORMALIZED,), depends=depends, run=run)


def _shown(found: Sequence[FormalizedGroup], files: Sequence[Path]) -> Iterator[RenderableType]:
    for group in found:
        for by in group.formalizations:
            if by.failure is not None:
                yield Note(f"{group.group}, {by.name} ({by.model}): {by.failure}")
        if group.stopped:
            yield Note(f"{group.group}: {group.stopped}")
    yield make_table(
        ("provisions", "formalizers", "rules", "classes", "sessions", "asked", "determinacy"),
        [_row(group) for group in found],
    )
    families = {by.model for group in found for by in group.formalizations}
    if len(families) < 2:
        yield Note("All formalizers are the same model; their agreement is that of one.")
    open_ = [session.id for group in found for session in group.sessions if not session.judgments]
    if open_:
        yield Note(
            f"{len(open_)} sessions have no answer. Name --annotators, or write lines such as "
            f'{{"session": "{open_[0]}", "verdict": "lawful", "words": "...", "by": "NAME"}} for --answers.'
        )
    yield Note(f"Written: {files[1]}, {files[0]}")


def _row(group: FormalizedGroup) -> Sequence[object]:
    return (
        group.group,
        len({by.model for by in group.formalizations if by.failure is None}),
        ", ".join(str(len(by.rules)) for by in group.formalizations),
        " | ".join(" ".join(names) for names in group.classes),
        len(group.sessions),
        sum(bool(session.judgments) for session in group.sessions),
        group.determinacy,
    )
