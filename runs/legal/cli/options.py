"""Options that several commands of the legal benchmark take."""

from pathlib import Path
from typing import Annotated

import typer

CasesOption = Annotated[Path, typer.Option("--cases", help="Dataset: a folder or a file.")]
RecipeOption = Annotated[Path | None, typer.Option("--recipe", help="Legal recipe: models and prompts of the roles.")]
