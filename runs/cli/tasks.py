"""``lawtrace tasks``: the commands on tasks."""

import typer

from lawtrace.runs.cli.review import review_tasks
from lawtrace.runs.cli.tasks_build import build_command
from lawtrace.runs.cli.tasks_check import check_tasks_command
from lawtrace.runs.cli.tasks_import import import_command
from lawtrace.runs.cli.tasks_release import release_command
from lawtrace.runs.cli.tasks_texts import texts_command

app = typer.Typer(
    help="Build, import, check, review and release tasks, and check texts.",
    no_args_is_help=True,
    add_completion=False,
)

app.command("build")(build_command)
app.command("check")(check_tasks_command)
app.command("import")(import_command)
app.command("release")(release_command)
app.command("review")(review_tasks)
app.command("texts")(texts_command)
