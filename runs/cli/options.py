"""Options that several commands take."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer


def set_parameters(wrapper: Callable[..., Any], parameters: Sequence[inspect.Parameter]) -> None:
    """Let a function made with ``functools.wraps`` have these parameters as options, not those of what it wraps."""
    del wrapper.__dict__["__wrapped__"]  # typer would read the annotations of the wrapped function
    wrapper.__dict__["__signature__"] = inspect.Signature(parameters)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
RulesOption = Annotated[Path | None, typer.Option("--rules", help="Rule file; default: the curated set.")]
OutOption = Annotated[Path, typer.Option("--out", help="Output file (JSON lines).")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]

EnvironmentOption = Annotated[
    str, typer.Option("--env", help="Built-in environment, or a folder such as ./airline (runs its Python).")
]

EnvironmentFolderOption = Annotated[
    str | None, typer.Option("--env", help="Folder of an environment that is not built in (runs its Python).")
]
"""For commands that read the environment's name from a file; that name alone never causes code to run."""

NameArgument = Annotated[str, typer.Argument(metavar="E", help="Built-in environment, or a folder.")]
SignatureOption = Annotated[Path, typer.Option("--signature", help="Predicates: lines such as pay(card:string).")]
TimeUnitOption = Annotated[str, typer.Option("--time-unit", help="Unit of timestamps and bare bounds: 1s, 1h, 1d.")]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--budget", metavar="<name=amount>", help="Limit model use, such as money=2.5 or tokens=100000. Repeatable."
    ),
]
ClusterOption = Annotated[
    str | None, typer.Option("--on", metavar="ray[://<host>:<port>]", help="Divide the work among a Ray cluster.")
]
ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="<i>/<n>", help="Make one of N parts, from 1; `lawtrace merge` joins them."),
]
FailUnderOption = Annotated[
    float | None, typer.Option("--fail-under", min=0, max=1, help="Exit 1 if a model's Pass@1 is lower (0 to 1).")
]

VerdictOption = Annotated[
    str | None, typer.Option("--verdict", help="Only attempts with this outcome, or 'failing': all but safe successes.")
]
BrokenRuleOption = Annotated[
    str | None, typer.Option("--rule", help="Only attempts that broke this rule or left it undecided.")
]
FactOption = Annotated[str | None, typer.Option("--fact", help="Only contrast pairs that turn on this fact.")]

ReviewersOption = Annotated[int, typer.Option("--reviewers", min=1, help="Reviewers who must accept an item.")]
ReviewOpinionsOption = Annotated[
    Path | None, typer.Option("--opinions", help="Decision file; default: next to the input.")
]
ReviewOutOption = Annotated[
    Path | None, typer.Option("--out", help="Output file for accepted items; default: next to the input.")
]
ReviewStatusOption = Annotated[bool, typer.Option("--status", help="Print the state of the review without serving it.")]
ReviewHostOption = Annotated[
    str, typer.Option("--host", help="Address to listen on. Other than loopback needs a token.")
]
ReviewPortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free port.")]
