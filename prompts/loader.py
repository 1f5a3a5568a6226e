"""Loading prompts: a file each, with front matter, strict about what it is filled with.

    +++
    id = "masking_evaluator"
    version = 1
    inputs = ["style", "plan"]
    output = "Review"
    +++
    The words, with {{ style }} and {{ plan }} ...

The hash of the file goes into every message that the prompt takes part in, so a record tells which words were sent.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError, meta
from pydantic import BaseModel, ConfigDict, ValidationError

from lawtrace.environments.errors import InputError

_FOLDER = Path(__file__).parent
_JINJA = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701
"""Prompts are plain text for models, not HTML: escaping would change the words."""


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
        id: the file's name without its ending.
        inputs: the names that it must be filled with, no more and no fewer.
        output: the name of the typed answer that it asks for, or ``text``.
        hash: SHA-256 of the file, in hexadecimal.
    """

    id: str
    version: int
    inputs: tuple[str, ...]
    output: str
    body: str
    hash: str

    def fill(self, **values: object) -> str:
        """The words with every input filled in. Raises InputError for a missing or a surplus value."""
        if set(values) != set(self.inputs):
            raise InputError(f"prompt {self.id!r} takes {list(self.inputs)}, not {sorted(values)}")
        return _JINJA.from_string(self.body).render(**values).strip() + "\n"


def prompt_ids() -> tuple[str, ...]:
    """The ids of all prompts there are."""
    return tuple(sorted(path.stem for path in _FOLDER.rglob("*.md") if path.stem != "README"))


@lru_cache(maxsize=64)
def load_prompt(id: str) -> Prompt:  # noqa: A002 (the word of the front matter)
    """The prompt of that id. Raises InputError naming the file and what is wrong with it."""
    path = next(_FOLDER.rglob(f"{id}.md"), _FOLDER / f"{id}.md")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no prompt {id!r}; there are {', '.join(prompt_ids())}") from error
    prompt = _parse(text, f"prompts/{path.name}")
    if prompt.id != id:
        raise InputError(f"prompts/{path.name}: it must declare id {id!r}")
    return prompt


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a run: ours, but for those that the user's own words take the place of.

    ``own``: id of ours -> the text of a prompt file. It needs an id of its own, by which records and tables call it.
    """

    overrides: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self) -> None:
        """Raises InputError for the first that cannot stand in for ours."""
        for id in self.overrides:  # noqa: A001
            self[id]

    def __getitem__(self, id: str) -> Prompt:  # noqa: A002
        """Raises InputError: there is no such prompt, or what stands in for it takes or asks for something else."""
        ours = load_prompt(id)
        if id not in self.overrides:
            return ours
        prompt = _parse(self.overrides[id], f"the prompt in place of {id!r}")
        if prompt.id in prompt_ids():
            raise InputError(f"the prompt in place of {id!r}: give it an id of its own; {prompt.id!r} is one of ours")
        if set(prompt.inputs) != set(ours.inputs) or prompt.output != ours.output:
            raise InputError(
                f"the prompt {prompt.id!r} in place of {id!r}: it must take the inputs {sorted(ours.inputs)} and ask "
                f"for {ours.output}, not take {sorted(prompt.inputs)} and ask for {prompt.output}"
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
