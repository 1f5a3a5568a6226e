"""The grammar of the command line: which verbs there are, and where each is."""

import typer

from runs.cli import attempt, audit, compare, doctor, env, grade, inspect, legal, ltlf, rules, run, tasks, traces

__all__ = ["app"]

app = typer.Typer(
    name="lawtrace",
    help="Measures whether an LLM that calls tools keeps the regulations that nobody repeated to it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("audit")(audit.audit_command)
app.command("report")(inspect.report)
app.command("compare")(compare.compare)
app.command("messages")(inspect.messages)
app.command("doctor")(doctor.doctor)
app.command("attempt")(attempt.attempt)
app.command("grade")(grade.grade)
app.add_typer(env.app, name="env")
app.add_typer(rules.app, name="rules")
app.add_typer(ltlf.app, name="ltlf")
app.add_typer(traces.app, name="traces")
app.add_typer(tasks.app, name="tasks")
app.add_typer(legal.app, name="legal")
