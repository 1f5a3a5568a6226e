"""Prompt files: one Markdown file for each prompt, with front matter.

    +++
    id = "masking_evaluator"
    version = 1
    inputs = ["style", "plan"]
    output = "Review"
    +++
    The text, with {{ style }} and {{ plan }} ...

Files in a folder ``published`` are the papers' prompts, in our words; their ids begin with ``published/``. They and the
prompts of users replace a prompt of ours. Such a prompt takes the same inputs; it names those that it does not use
(``unused = ["alignments"]``).

A line ``{% include "rule_language" %}`` stands for the text of another prompt of the package.

The hash of the file, with what it includes, is recorded with every message that the prompt produced.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from string import Formatter

from jinja2 import Environment, StrictUndefined, Template, TemplateError, meta
from pydantic import ValidationError

from lawtrace.schemas.call_options import PromptOptions
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

PUBLISHED = "published"
"""The folder of the papers' prompts, and the value in place of a prompt file that chooses them."""

PUBLISHED_FILES = {"meta_llm": "de18c1f23340e51f2eab3f5e4557cf975bd741d0dcdf38d8f50ae9f75825a45b"}
"""The SHA-256 of prompt files in the papers' repositories, which a user names: ``prompts/answer_with_context.txt`` of
MASLegalBench."""

_FOLDER = Path(__file__).parent
_JINJA = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701
"""Prompts are plain text, not HTML: escaping would change them."""
_INCLUDED = re.compile(r'^\{% include "([\w/]+)" %\}\n', re.MULTILINE)


class _FrontMatter(StrictModel):
    id: str
    version: int
    inputs: tuple[str, ...]
    unused: tuple[str, ...] = ()
    output: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file.

    Attributes:
        id: the file name without its suffix; that of a published prompt begins with ``published/``.
        inputs: the variables of the template.
        unused: inputs that `fill` takes besides, because the prompt that this one replaces uses them.
        output: the type of the structured answer that it asks for, or ``text``.
        hash: SHA-256 of the file, in hexadecimal; where it includes others, of the text with them.
        verbatim: a file of a published repository: a template of `str.format`, which is sent as the only message.
    """

    id: str
    version: int
    inputs: tuple[str, ...]
    output: str
    body: str
    hash: str
    unused: tuple[str, ...] = ()
    verbatim: bool = False

    def fill(self, **values: object) -> str:
        """The rendered template. Raises InputError for a missing or unknown value, or a part that a value has not."""
        if set(values) != {*self.inputs, *self.unused}:
            raise InputError(f"prompt {self.id!r} takes {[*self.inputs, *self.unused]}, not {sorted(values)}")
        if self.verbatim:
            return self.body.format(**values)
        try:
            return _compiled(self.body).render(**values).strip() + "\n"
        except TemplateError as error:
            raise InputError(f"prompt {self.id!r} cannot be filled: {error}") from error


@lru_cache(maxsize=256)
def _compiled(body: str) -> Template:
    return _JINJA.from_string(body)


def prompt_ids() -> tuple[str, ...]:
    """The ids of all prompts of the package."""
    return tuple(sorted(_paths()))


@lru_cache(maxsize=1)
def package_lines() -> frozenset[str]:
    """The lines of all prompts of the package."""
    return frozenset(line for id in prompt_ids() for line in load_prompt(id).body.splitlines())  # noqa: A001


def _paths() -> dict[str, Path]:
    """The files of the package by id."""
    files = (path for path in _FOLDER.rglob("*.md") if path.stem != "README")
    return {f"{PUBLISHED}/{path.stem}" if path.parent.name == PUBLISHED else path.stem: path for path in files}


@lru_cache(maxsize=64)
def load_prompt(id: str) -> Prompt:  # noqa: A002 (the name in the front matter)
    """Raises InputError that names the file and the mistake in it."""
    path = _paths().get(id)
    if path is None:
        raise InputError(f"unknown prompt {id!r}; known are {', '.join(prompt_ids())}")
    place = f"prompts/{path.relative_to(_FOLDER)}"
    prompt = _parse(path.read_text(encoding="utf-8"), place)
    if prompt.id != id:
        raise InputError(f"{place}: it must declare id {id!r}")
    return prompt


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a run: ours, some of them replaced by published ones or by the user's.

    ``overrides``: id of a prompt of ours -> ``published``, or the text of a prompt file. The file needs an id of its
    own, which event logs and tables show.
    """

    overrides: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self) -> None:
        """Raises InputError for the first override that does not fit."""
        for id in self.overrides:  # noqa: A001
            self[id]

    def __getitem__(self, id: str) -> Prompt:  # noqa: A002
        """Raises InputError if the prompt is unknown, or if its override has other inputs or another output."""
        return replaced_prompt(id, self.overrides[id]) if id in self.overrides else load_prompt(id)


@lru_cache(maxsize=256)
def replaced_prompt(id: str, by: str) -> Prompt:  # noqa: A002
    """The prompt in place of ours: the published one, or that of a text. Raises InputError if it does not fit."""
    original = load_prompt(id)
    if by == PUBLISHED:
        prompt = load_prompt(f"{PUBLISHED}/{id}")
    elif "+++" not in by:
        return _published_file(id, by, original.output)
    else:
        prompt = _parse(by, f"the override of prompt {id!r}")
        if prompt.id in prompt_ids():
            raise InputError(
                f"the override of prompt {id!r}: {prompt.id!r} is a prompt of lawtrace; give it another id"
            )
    wanted, taken = {*original.inputs, *original.unused}, {*prompt.inputs, *prompt.unused}
    if taken != wanted or prompt.output != original.output:
        raise InputError(
            f"prompt {prompt.id!r}, the override of {id!r}: it must declare inputs {sorted(wanted)} (those it does not "
            f"use as unused) and output {original.output}, not {sorted(taken)} and {prompt.output}"
        )
    return prompt


def _published_file(id: str, text: str, output: str) -> Prompt:  # noqa: A002
    digest = hashlib.sha256(text.encode()).hexdigest()
    if PUBLISHED_FILES.get(id) != digest:
        raise InputError(
            f"the override of prompt {id!r}: it has no front matter between lines '+++', and it is not the published "
            f"file (its SHA-256 begins with {digest[:12]})"
        )
    inputs = tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(text) if name))
    return Prompt(f"{PUBLISHED}/file/{id}", 1, inputs, output, text, digest, verbatim=True)


DEFAULT_PROMPTS = Prompts()


def prompts_of(options: PromptOptions) -> Prompts:
    """The prompts that a recipe sets."""
    return Prompts(options.replaced())


def _parse(text: str, place: str) -> Prompt:
    text = _INCLUDED.sub(lambda found: load_prompt(found[1]).body, text)
    try:
        _, front, body = text.split("+++\n", 2)
        matter = _FrontMatter.model_validate(tomllib.loads(front))
        used = meta.find_undeclared_variables(_JINJA.parse(body))
    except (ValueError, ValidationError, TemplateError) as error:
        raise InputError(f"{place}: {error}") from error
    if used != set(matter.inputs) or used & set(matter.unused):
        raise InputError(f"{place}: it must declare exactly the inputs {sorted(used)}")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(matter.id, matter.version, matter.inputs, matter.output, body, digest, matter.unused)
