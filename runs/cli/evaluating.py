"""``lawtrace rules evaluate``: precision and recall of a rule set against gold, with near misses named."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from environments.catalogue import load_setting
from environments.events import Json
from runs.cli.options import WhichEnvironment
from runs.cli.output import make_table, show, show_json
from runs.evaluating import Evaluation, Score, evaluate_rules
from runs.report.texts import percent
from solver.rules import check_rules, load_rules

__all__ = ["evaluate_command"]


def evaluate_command(
    file: Annotated[Path, typer.Argument(help="The rules to be scored.")],
    gold: Annotated[
        Path | None, typer.Option(help="The gold rules; by default the published, or else the curated.")
    ] = None,
    env: WhichEnvironment = "banking",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Score a rule set against gold: a rule is found if an extracted one has an equivalent automaton."""
    setting = load_setting(env)
    extracted, golden = load_rules(file), load_rules(gold or setting.gold_file)
    check_rules(extracted, setting.environment)
    check_rules(golden, setting.environment)
    evaluation = evaluate_rules(extracted, golden)
    if as_json:
        show_json(_as_json(evaluation))
        return
    table = make_table("rules", "extracted", "gold", "precision", "recall")
    lines = {"all": evaluation.rules, "all, split into elementary ones": evaluation.elementary, **evaluation.templates}
    for name, score in lines.items():
        table.add_row(name, str(score.extracted), str(score.gold), percent(score.precision), percent(score.recall))
    show(table)
    table = make_table("provision", "found", "missed", "cited")
    for line in evaluation.provisions:
        cited = "yes" if line.cited else "no"
        table.add_row(Text(line.citation), ", ".join(line.found), ", ".join(line.missed), cited)
    show(table)
    for near in evaluation.near_misses:
        trace = ", ".join(near.trace) or "the empty trace"
        show(Text(f"near miss: {near.extracted} is not {near.gold}: {near.what}; they part on {trace}"))


def _as_json(evaluation: Evaluation) -> dict[str, Json]:
    def scored(score: Score) -> dict[str, Json]:
        return {**score.model_dump(), "precision": score.precision, "recall": score.recall}

    templates: dict[str, Json] = {name: scored(score) for name, score in evaluation.templates.items()}
    rest = evaluation.model_dump(mode="json", include={"provisions", "missed", "surplus", "near_misses"})
    return {**scored(evaluation.rules), "elementary": scored(evaluation.elementary), "templates": templates, **rest}
