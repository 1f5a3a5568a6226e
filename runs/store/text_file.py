"""Texts written by hand: a TOML file for each environment, with one table for each contrast pair or task.

    environment = "payments"

    [payments-93d724-s1-003]
    asked = "5d0c9a1e"
    goal = '''
    I owe my account at Hollin Bank 34.69 euros from the holiday pot. Could you send that over?
    '''
    workflow = '''
    Look up my holiday pot and my account at Hollin Bank first, then send 34.69 from the one to the other.
    '''
    says = { "FindRecord.kind" = ["blood work", "lab work"] }

``asked`` is a digest of the calls that the text was written for. ``says`` notes which words say a value that code
cannot find. Single line breaks inside a paragraph do not count.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap

from pydantic import Field, ValidationError

from lawtrace.environments.toml_file import read_toml
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import InputError, describe_validation_error
from lawtrace.schemas.instructions import Instruction, SurfaceForms
from lawtrace.schemas.models import FrozenModel, StrictModel
from lawtrace.solver.masking.requests import AskedRequest
from lawtrace.solver.masking.surface_forms import says
from lawtrace.solver.masking.wording import format_value
from lawtrace.solver.traces import PlannedCall

ENDING = ".texts.toml"
WIDTH = 120


class WrittenPair(StrictModel):
    """The texts of one request in both styles."""

    asked: str
    goal: str
    workflow: str
    says: SurfaceForms = Field(default={})

    def text(self, style: Style) -> str:
        """The text of a style, with its paragraphs and lists each on a line."""
        return unwrapped(self.goal if style == "goal" else self.workflow)

    def instruction(self, style: Style) -> Instruction:
        """The text as an instruction, with the notes that belong to it."""
        text = self.text(style)
        noted = {key: [words for words in wordings if says(text, words)] for key, wordings in self.says.items()}
        return Instruction(
            style=style,
            text=text,
            variables={},
            written="by hand",
            says={key: tuple(wordings) for key, wordings in noted.items() if wordings},
        )


class WrittenTexts(FrozenModel):
    """The texts for one environment, by the id of the pair or task."""

    environment: str
    pairs: Mapping[str, WrittenPair]


def read_texts(path: Path) -> WrittenTexts:
    """The texts of a file. Raises InputError with the file and the entry."""
    raw = read_toml(path)
    environment = raw.pop("environment", None)
    if not isinstance(environment, str):
        raise InputError(f'{path}: not a file of texts: it lacks the line environment = "NAME"')
    pairs: dict[str, WrittenPair] = {}
    for name, entry in raw.items():
        try:
            pairs[name] = WrittenPair.model_validate(entry)
        except ValidationError as error:
            raise InputError(
                f"{path}, [{name}]: {describe_validation_error(error)}; an entry has asked, goal, workflow and says"
            ) from error
    return WrittenTexts(environment=environment, pairs=pairs)


def texts_file(place: Path, environment: str) -> Path:
    """The file itself, or the one for the environment in a folder."""
    return place / f"{environment}{ENDING}" if place.is_dir() else place


def unwrapped(text: str) -> str:
    """The text with each paragraph and each item of a list on one line."""
    lines = "\n".join(line.strip() for line in text.strip().splitlines())
    return re.sub(r"(?<=[^\n])\n(?!\n|(?:\d+[.)]|[-*•])[^\S\n])", " ", lines)


def skeleton(environment: str, requests: Mapping[str, AskedRequest]) -> str:
    """A file to be filled in."""
    head = (
        f'# Write both texts of each entry; check them with `lawtrace tasks texts`.\n\nenvironment = "{environment}"\n'
    )
    return head + "".join(entry_skeleton(name, request) for name, request in requests.items())


def entry_skeleton(name: str, request: AskedRequest) -> str:
    """An empty entry with comments: the asked calls, the rows, and what must not be revealed."""
    comments = map(_fold, [*_described_calls(request), *_described_secret(request)])
    key = name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)
    texts = f"asked = \"{request.fingerprint}\"\ngoal = '''\n'''\nworkflow = '''\n'''\n"
    return "\n" + "\n".join(comments) + f"\n[{key}]\n{texts}"


def _described_calls(request: AskedRequest) -> list[str]:
    goal = request.numbers("goal")
    changes = [number for number in goal if request.tool(number).name in request.environment.changing_tools]
    lines: list[str] = []
    for number, call in enumerate(request.calls):
        line = f"{number + 1}. {call.event.tool}({_described_arguments(request, number, call)})"
        if request.is_lookup(number):
            (rows, *_) = request.found_rows(number, {})
            line += f" -> {'; '.join(map(str, rows))}"
        lines.append(line + ("" if number in goal else " (workflow only)"))
    asked = " and ".join(str(number + 1) for number in changes)
    return [*lines, f"The goal is the result of {asked}; the workflow is all steps in this order."]


def _described_arguments(request: AskedRequest, number: int, call: PlannedCall) -> str:
    tool, shown = request.tool(number), list[str]()
    for name, value in call.event.arguments.items():
        if value is None:
            continue
        places = call.looked_up.get(name)
        shown.append(
            f"{name} from {' and '.join(str(place.step + 1) for place in places)}"
            if places
            else f"{name} = {format_value(value, tool.parameter(name).type)!r}"
        )
    return ", ".join(shown)


def _described_secret(request: AskedRequest) -> list[str]:
    if request.secret is None:
        return []
    one, other = map(str, request.secret.values[:2])
    words = ", ".join(request.secret_phrases)
    return [
        f"Must not be revealed: {request.secret.name}, which is {one!r} here and {other!r} there.",
        *([f"Avoid: {words}."] if words else []),
    ]


def _fold(comment: str) -> str:
    lines = wrap(comment, WIDTH - len("#   "), break_long_words=False, break_on_hyphens=False)
    return "# " + "\n#   ".join(lines)
