"""The command line: the names of all commands, and where each of them is.

A command's module is imported when the command is called or its help is asked for.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lawtrace.runs.cli.lazy_commands import lazy_commands
from lawtrace.runs.cli.logs import LogFormat, LogLevel, configure_logs
from lawtrace.runs.plugins import Command, Group, plugin_commands

WIDEST_HELP = 120
"""Columns of a help text on a terminal that is wider."""


def _at(function: str, help_line: str, *, bench: bool = False) -> Command:
    """The command that a function (``module.function`` in this package) carries out, with its first line of help."""
    module, _, name = function.rpartition(".")
    return Command(f"lawtrace.runs.cli.{module}:{name}", help_line, bench)


COMMANDS = {
    "run": _at("run.run", "Run the full pipeline.", bench=True),
    "resume": _at("run.resume", "Continue an interrupted run, or add models.", bench=True),
    "report": _at("report.report", "Write the report and tables of each run.", bench=True),
    "compare": _at("compare.compare", "Compare two runs or two models, attempt by attempt."),
    "messages": _at("messages.messages", "Read the conversations of a run."),
    "view": _at("view.view", "Browse runs in the browser."),
    "audit": _at("audit.audit", "Judge recorded conversations or logs against rules."),
    "guard": _at("guard.guard", "Enforce rules in front of an MCP server."),
    "doctor": _at("doctor.doctor", "Check the sandbox, endpoints and versions."),
    "grade": _at("grade.grade", "Judge programs or the attempts of a run."),
    "merge": _at("merge.merge", "Merge all shards of one command."),
    "env": Group(
        "List, show, check and serve environments.",
        {
            "list": _at("env.list_environments", "List the built-in environments, and their rules by kind."),
            "serve": _at("env_serve.serve", "Serve an environment over MCP and judge the calls."),
            "from-tools": _at("env_from_tools.from_tools", "Make an environment for audits from tool schemas."),
            "draft": _at("env_draft.env_draft", "Let a model write an environment for tools, and check it."),
            "replay": _at("env_replay.env_replay", "Compare recorded calls with what the environment computes."),
            "show": _at("env.show_environment", "Show tools, rules and provisions, linked to each other."),
            "check": _at("env.check_environment", "Check a declaration, its rules and its initial states."),
        },
    ),
    "rules": Group(
        "Extract, check and review rules.",
        {
            "extract": _at("rules_extract.extract", "Let a model write rules from a regulation, and a critic object."),
            "formalize": _at(
                "rules_extract.formalize", "Let models write rules independently, and compare what these allow."
            ),
            "evaluate": _at("rules_evaluate.evaluate", "Score rule sets by what they say of sessions."),
            "review": _at("review.review_rules", "Review rules, or judge sessions, in the browser."),
            "check": _at("rules_check.check_rule_set", "Check a rule set."),
            "separate": _at(
                "rules_separate.separate_rules", "Find a trace that two rules or rule sets judge differently."
            ),
            "mutants": _at(
                "rules_separate.list_mutants", "List rules with one change, and whether a trace separates them."
            ),
            "import": Group(
                "Import formulas of other tools.",
                {"mfotl": _at("rules_import.import_formulas", "Import metric first-order temporal formulas as rules.")},
            ),
        },
    ),
    "ltlf": Group(
        "Show the automata of formulas.",
        {"dfa": _at("ltlf.show_automaton", "Show the minimal automaton of a formula.")},
    ),
    "traces": Group(
        "Synthesize compliant traces and measure coverage.",
        {
            "synthesize": _at("traces_synthesize.synthesize_traces", "Synthesize compliant traces."),
            "coverage": _at("traces_coverage.measure_coverage", "Measure what compliant traces can cover."),
        },
    ),
    "tasks": Group(
        "Build, import, check, review and release tasks.",
        {
            "build": _at("tasks_build.build_tasks", "Build tasks from traces, with checked instructions."),
            "check": _at("tasks_check.check_tasks", "Check the quality of tasks."),
            "import": _at("tasks_import.import_published_tasks", "Import published tasks."),
            "release": _at("tasks_release.release_tasks", "Build and check a task set for publication."),
            "review": _at("review.review_tasks", "Review tasks in the browser."),
            "sample": _at("tasks_sample.sample_sessions", "Write sessions for annotators to judge."),
            "adjudicate": _at(
                "tasks_sample.adjudicate", "Read annotators' forms, and write what is to be adjudicated."
            ),
            "validity": _at("tasks_validity.report_validity", "Report what is recorded about a release.", bench=True),
        },
    ),
    **plugin_commands(),
}


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 (what typer gives)
        super().__init__(**attributes)
        self.commands.update(lazy_commands(COMMANDS))


app = typer.Typer(
    name="lawtrace",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST_HELP},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lawtrace {version('lawtrace')}")
        raise typer.Exit


@app.callback()
def lawtrace(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    log_level: Annotated[LogLevel | None, typer.Option(help="The lowest level of logged events.")] = None,
    log_file: Annotated[Path | None, typer.Option(help="Append logged events to this file.")] = None,
    log_format: Annotated[LogFormat | None, typer.Option(help="Format of logged events.")] = None,
) -> None:
    """Measure whether tool-calling LLM agents comply with regulations they are not reminded of."""
    configure_logs(log_level, log_file, log_format)
