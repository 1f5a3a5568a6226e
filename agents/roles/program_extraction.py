"""The program in a model's answer, by the rule that docs/acting.md states.

    answer -> without thinking -> fenced blocks -> programs of one or more blocks -> the last that uses the tools

Models write drafts before a correction, steps that build on each other, an example of use after a definition, commands
and expected output beside the program. Prose is never a part of it.
"""

import ast
import builtins
import re
import textwrap
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
UNFINISHED_THOUGHT = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
OPENING = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+-]*)(?P<rest>[^\n]*)")
CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})\s*")
PYTHON = frozenset({"python", "python3", "py", "py3", "ipython", "ipython3", "tool_code"})
MAX_FENCES_IN_A_STRING = 8
BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block.

    Attributes:
        complete: whether its fence is closed.
        uses_tools: whether it uses the tool object.
        reads: the names that something before the block has to define.
        defines: the names that it defines.
    """

    language: str
    body: str
    complete: bool
    parsed: bool
    uses_tools: bool
    reads: frozenset[str]
    defines: frozenset[str]


def extract_program(answer: str, object_name: str, variables: Collection[str] = ()) -> str | None:
    """The program in an answer; None if there is none.

    Args:
        object_name: the object whose methods are the tools.
        variables: the names that are defined before the program begins.
    """
    answer = _without_thoughts(answer)
    known = {object_name, *variables, *BUILTINS}
    fenced = list(_blocks(answer, object_name, known))
    python = [block for block in fenced if block.language in PYTHON and block.body.strip()]
    unnamed = [block for block in fenced if not block.language and block.body.strip()]
    for blocks in (python, unnamed):
        complete = [block for block in blocks if block.complete]
        for candidates in (complete, blocks):
            using = [program for program in _programs(candidates) if any(block.uses_tools for block in program)]
            if using:
                return "\n".join(block.body for block in using[-1])
    if remaining := python or [block for block in unnamed if block.parsed]:
        return remaining[-1].body
    bare = _block("", answer, complete=True, object_name=object_name, known=known)
    return answer if not fenced and bare.parsed and bare.uses_tools else None


def _without_thoughts(answer: str) -> str:
    """The text after the last thinking tag. A thought that does not end leaves nothing."""
    if ends := [match.end() for match in THOUGHT.finditer(answer)]:
        return answer[ends[-1] :]
    return "" if UNFINISHED_THOUGHT.match(answer) else answer


def _blocks(answer: str, object_name: str, known: Collection[str]) -> Iterator[_Block]:
    lines = answer.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        opening = OPENING.match(lines[at])
        at += 1
        if opening is None or opening["fence"][0] in opening["rest"]:
            continue
        language = opening["language"].lower()
        end = _end(lines, at, opening["fence"], python=not language or language in PYTHON)
        body = textwrap.dedent("".join(lines[at : len(lines) if end is None else end]))
        yield _block(language, body, complete=end is not None, object_name=object_name, known=known)
        # A fence with text behind it closes a block that was left open, and may open the next one.
        at = len(lines) if end is None else end + 1 if CLOSING.fullmatch(lines[end]) else end


def _end(lines: Sequence[str], start: int, fence: str, *, python: bool) -> int | None:
    """The line that closes a block: of Python the first with which it has no syntax error, since a fence may stand in a
    string; else the first."""
    found = (number for number in range(start, len(lines)) if lines[number].lstrip(" \t").startswith(fence))
    fences = list(islice(found, MAX_FENCES_IN_A_STRING if python else 1))
    for number in fences if python else ():
        if _parse(textwrap.dedent("".join(lines[start:number]))) is not None:
            return number
    return fences[0] if fences else None


def _block(language: str, body: str, *, complete: bool, object_name: str, known: Collection[str]) -> _Block:
    module = _parse(body)
    if module is None:  # a program with a syntax error is still the program
        uses_tools = re.search(rf"\b{re.escape(object_name)}\b", body) is not None
        return _Block(language, body, complete, False, uses_tools, frozenset(), frozenset())
    read: set[str] = set()
    defined: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.Name(name, ast.Load()):
                read.add(name)
            case ast.Name(name) | ast.arg(name):
                defined.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                defined.add(name)
            case ast.alias(name, renamed):
                defined.add(renamed or name.partition(".")[0])
            case ast.ExceptHandler(_, str(name)):
                defined.add(name)
            case _:
                pass
    reads = frozenset(read - defined - set(known))
    return _Block(language, body, complete, True, object_name in read, reads, frozenset(defined))


def _programs(blocks: Sequence[_Block]) -> list[list[_Block]]:
    """Blocks that build on each other, joined. One that reads a name of an earlier block continues the program of that
    block, with everything between."""
    programs: list[list[_Block]] = []
    source: dict[str, int] = {}
    for block in blocks:
        start = min((source[name] for name in block.reads if name in source), default=len(programs))
        added = [*(one for program in programs[start + 1 :] for one in program), block]
        programs[start:] = [programs[start] if start < len(programs) else []]
        programs[start] += added
        source |= {name: start for one in added for name in one.defines}
    return programs


def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that are not valid, which the program may contain
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
