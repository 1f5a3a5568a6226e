"""Prompt files: one Markdown file for each prompt, with front matter.

    +++
    id = "masking_evaluator"
    version = 1
    inputs = ["style", "plan"]
    output = "Review"
    +++
    The text, with {{ style }} and {{ plan }} ...

The hash of the file is recorded with every message that the prompt produced.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template, TemplateError, meta
from pydantic import BaseModel, ConfigDict, ValidationError

from lawtrace.environments.errors import InputError

_FOLDER = Path(__file__).parent
_JINJA = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701
"""Prompts are plain text, not HTML: escaping would change them."""


class _FrontMatter(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    version: int
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file.

    Attributes:
        id: the file name without its suffix.
        inputs: the variables of the template. `fill` takes exactly these.
        output: the type of the structured answer that it asks for, or ``text``.
        hash: SHA-256 of the file, in hexadecimal.
    """

    id: str
    version: int
    inputs: tuple[str, ...]
    output: str
    body: str
    hash: str

    def fill(self, **values: object) -> str:
        """The rendered template. Raises InputError for a missing or an unknown value."""
        if set(values) != set(self.inputs):
            raise InputError(f"prompt {self.id!r} takes {list(self.inputs)}, not {sorted(values)}")
        return _compiled(self.body).render(**values).strip() + "\n"


@lru_cache(maxsize=256)
def _compiled(body: str) -> Template:
    return _JINJA.from_string(body)


def prompt_ids() -> tuple[str, ...]:
    """The ids of all prompts of the package."""
    return tuple(sorted(path.stem for path in _FOLDER.rglob("*.md") if path.stem != "README"))


@lru_cache(maxsize=64)
def load_prompt(id: str) -> Prompt:  # noqa: A002 (the name in the front matter)
    """Raises InputError that names the file and the mistake in it."""
    path = next(_FOLDER.rglob(f"{id}.md"), _FOLDER / f"{id}.md")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"unknown prompt {id!r}; known are {', '.join(prompt_ids())}") from error
    prompt = _parse(text, f"prompts/{path.name}")
    if prompt.id != id:
        raise InputError(f"prompts/{path.name}: it must declare id {id!r}")
    return prompt


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a run: those of the package, some of them replaced by the user's.

    ``overrides``: id of a prompt of the package -> the text of a prompt file. The file needs an id of its own, which
    event logs and tables show.
    """

    overrides: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self) -> None:
        """Raises InputError for the first override that does not fit."""
        for id in self.overrides:  # noqa: A001
            self[id]

    def __getitem__(self, id: str) -> Prompt:  # noqa: A002
        """Raises InputError if the prompt is unknown, or if its override has other inputs or another output."""
        original = load_prompt(id)
        if id not in self.overrides:
            return original
        prompt = _parse(self.overrides[id], f"the override of prompt {id!r}")
        if prompt.id in prompt_ids():
            raise InputError(
                f"the override of prompt {id!r}: {prompt.id!r} is a prompt of lawtrace; give it another id"
            )
        if set(prompt.inputs) != set(original.inputs) or prompt.output != original.output:
            raise InputError(
                f"prompt {prompt.id!r}, the override of {id!r}: it must declare inputs {sorted(original.inputs)} and "
                f"output {original.output}, not {sorted(prompt.inputs)} and {prompt.output}"
            )
        return prompt


DEFAULT_PROMPTS = Prompts()


def _parse(text: str, place: str) -> Prompt:
    try:
        _, front, body = text.split("+++\n", 2)
        matter = _FrontMatter.model_validate(tomllib.loads(front))
        used = meta.find_undeclared_variables(_JINJA.parse(body))
    except (ValueError, ValidationError, TemplateError) as error:
        raise InputError(f"{place}: {error}") from error
    if used != set(matter.inputs):
        raise InputError(f"{place}: it must declare exactly the inputs {sorted(used)}")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(matter.id, matter.version, matter.inputs, matter.output, body, digest)
