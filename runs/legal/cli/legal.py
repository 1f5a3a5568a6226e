"""``lawtrace legal``: the benchmark of legal agents on data-protection decisions."""

import typer

from lawtrace.runs.legal.cli.legal_check import check_command
from lawtrace.runs.legal.cli.legal_ingest import ingest_command
from lawtrace.runs.legal.cli.legal_questions import questions_command
from lawtrace.runs.legal.cli.legal_review import review_command
from lawtrace.runs.legal.cli.legal_run import run_command

app = typer.Typer(
    help="Benchmark legal agents on data-protection decisions.", no_args_is_help=True, add_completion=False
)
app.command("check")(check_command)
app.command("run")(run_command)
app.command("ingest")(ingest_command)
app.command("questions")(questions_command)
app.command("review")(review_command)
