"""``lawtrace rules extract`` and ``formalize``: rules from a regulation, by one model or by several independently."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from lawtrace.agents.conversations.formalized_group import FormalizedGroup
from lawtrace.environments.regulations.published_law import read_published_law, regulation_files
from lawtrace.environments.regulations.regulation import Regulation, load_regulation
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.rules_check import rule_table
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.build_tables import formalization_table
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.report.terminal_tables import report_table
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import EXTRACTED_RULES, FORMALIZED
from lawtrace.runs.stages.build import groups_of
from lawtrace.runs.stages.rules_stage import count_extraction
from lawtrace.runs.store.stage_store import Products
from lawtrace.runs.web.export import export_report, tables_beside
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.solver.declarations.loader import Domain

RESTATED = ".toml"
_MOST_WARNINGS = 5

LawArgument = Annotated[
    Path | None, typer.Argument(help="Regulation, published or restated (TOML); default: the environment's.")
]
ProvisionsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="<str>", help="Provisions or articles, as one group; default: each article. Repeatable."),
]
AnswersOption = Annotated[Path | None, typer.Option(help="Judgments of sessions by people (JSON lines).")]
OutOption = Annotated[Path, typer.Option(help="Output rule file; formalizations, log and page go next to it.")]


@recipe_flags(*MODEL_CALLS)
def extract(
    flags: RecipeFlags,
    document: LawArgument = None,
    model: Annotated[str | None, typer.Option(help="Model that writes the rules; default: the recipe's.")] = None,
    provisions: ProvisionsOption = None,
    answers: AnswersOption = None,
    out: OutOption = Path("rules.jsonl"),
) -> CommandResult:
    """Let a model write rules from a regulation, and a critic object.

    Exit code 1 if provisions are left unprocessed; run the command again to continue with them.
    """
    values: dict[str, object] = {} if model is None else {"models.policy_extractor": model}
    values |= {"rules.provisions": tuple(provisions or ()), "rules.answers": answers}
    return _write_rules(flags, "extract", document, values, out)


@recipe_flags(*MODEL_CALLS)
def formalize(
    flags: RecipeFlags,
    document: LawArgument = None,
    models: Annotated[str, typer.Option(help="Models that write rules, separated by commas; two or more.")] = "",
    annotators: Annotated[str, typer.Option(help="Models that judge sessions, separated by commas.")] = "",
    provisions: ProvisionsOption = None,
    answers: AnswersOption = None,
    out: OutOption = Path("rules.jsonl"),
) -> CommandResult:
    """Let models write rules independently, and compare what these allow.

    Exit code 1 if provisions are left unprocessed; run the command again to continue with them.
    """
    values: dict[str, object] = {"rules.provisions": tuple(provisions or ()), "rules.answers": answers}
    for key, names in (("formalizers", models), ("annotators", annotators)):
        if given := tuple(name.strip() for name in names.split(",") if name.strip()):
            values[f"rules.{key}"] = given
    return _write_rules(flags, "formalize", document, values, out, least=2)


def _write_rules(
    flags: RecipeFlags, command: str, document: Path | None, values: Mapping[str, object], out: Path, least: int = 1
) -> CommandResult:
    """Carry out a command. ``least``: how many models must write rules."""
    if document is not None:
        is_restated = document.suffix.lower() == RESTATED
        read = {"rules.regulation": "restated"} if is_restated else {"regulation.files": (document,)}
        values = {"rules.regulation": "text", **read, **values}
    inputs = stage_recipe(replace(flags, values={**flags.values, **values}), simulated=False)
    options, domain = inputs.recipe, inputs.domain
    if len(options.formalizers) < least:
        one = "a model with --model, such as --model openai:NAME, or a recording"
        two = "two models or more with --models, such as --models openai:NAME,anthropic:NAME"
        raise InputError(f"name {two if least > 1 else one}")
    if document is not None and document.suffix.lower() == RESTATED:
        domain = domain.with_regulation(load_regulation(document))
    inputs = replace(inputs, domain=domain)
    groups_of(inputs)

    async def work(session: Session) -> Products:
        return await session.runner(inputs).make(EXTRACTED_RULES, FORMALIZED, incomplete=True)

    page = out.with_suffix(".html")
    written = out.with_suffix(".formalized.jsonl"), page, tables_beside(page)
    started = f"rules {command} {document or options.environment}"
    products = run_stages(options, out, started, work, *written, force=flags.force, sandbox=False)
    command_line = shlex.join(["lawtrace", *sys.argv[1:]])
    groups = [group.model_copy(update={"command": command_line}) for group in products[FORMALIZED]]
    rules = tuple(products[EXTRACTED_RULES])
    unread = [group for group in groups if not group.is_read]
    if len(unread) == len(groups) and not any(group.stopped for group in groups):
        raise OperationalError(
            f"no provision could be read, nothing written; run the command again: {unread[0].failure}"
        )
    EXTRACTED_RULES.write(out, rules)
    FORMALIZED.write(written[0], groups)
    export_report(make_extraction_report(groups), written[1])
    review = ["lawtrace", "rules", "review", str(written[0]), "--env", options.environment]
    review += [] if document is None else ["--document", str(document)]
    evaluate = f"`lawtrace rules evaluate {out} --env {domain.environment.name}` compares them with the curated rules."
    return CommandResult(
        {
            "rules": len(rules),
            "out": str(out),
            "page": str(written[1]),
            "groups": dict(Counter(group.determinacy for group in groups)),
            "questions": sum(group.questions for group in groups),
            "unread": len(unread),
        },
        (
            *_warnings(inputs.published.parse_warnings if inputs.published else ()),
            *_shown(groups, shlex.join(review)),
            rule_table(rules),
            count_extraction(groups, rules).sentence,
            *(Note(f"{group.group} is not read; run the command again: {group.failure}") for group in unread),
            *([Note(evaluate)] if domain.environment.simulated else []),
            Note(f"Written: {', '.join(map(str, (out, *written)))}"),
        ),
        exit_code=1 if unread else 0,
    )


def read_regulation(document: Path, domain: Domain) -> Regulation:
    """The regulation in a document of any supported form, cited as the rules of the environment cite it."""
    if document.suffix.lower() == RESTATED:
        return load_regulation(document)
    files = regulation_files([document], domain.environment.name)
    return read_published_law(files, domain.regulation.by_citation).regulation


def _warnings(warnings: Sequence[str]) -> Iterator[RenderableType]:
    for warning in warnings[:_MOST_WARNINGS]:
        yield Note(f"check the document: {warning}")
    if len(warnings) > _MOST_WARNINGS:
        yield Note(f"check the document: {len(warnings) - _MOST_WARNINGS} more warnings")


def _shown(groups: Sequence[FormalizedGroup], review: str) -> Iterator[RenderableType]:
    for group in groups:
        for by in group.formalizations:
            for one in by.disputed:
                yield Note(f"the critic objects, {by.name}.{one.rule}: {one.because}")
            for one in by.refused:
                yield Note(f"not used, {by.name}.{one.rule}: {one.because}")
    yield report_table(formalization_table(groups))
    if unjudged := sum(not session.judgments for group in groups for session in group.sessions):
        yield Note(f"{unjudged} sessions have no answer. Name annotators, or judge them on a page: `{review}`")
