"""Golden records: what a case wrote, as digests with small samples, and how two of them differ."""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden.cases import ROOT, Case

DATA = Path(__file__).parent / "data"
SAMPLE = 300
"""Characters of the first line that are kept of a larger file."""
LEFT_OUT = {".sqlite", ".lock", ".parquet"}
"""Endings of files with times or of formats that a library writes; the log is read by `lawtrace messages`."""

RENDERED = {".html", ".svg", ".tex"}
"""Endings of files that show what other files say: of them only the digest is kept, and nothing of slow cases."""

Record = Mapping[str, Mapping[str, Any]]
"""File -> `text`, or `sha256`, `lines` (8 digits of the digest of each) and `sample`."""

VARIES = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "<time>"),
    (re.compile(r'("(?:last-modified|start|collected|endTimeUtc)": ?)"[-\d]+T[:\d]+(?:Z|\+00:00)"'), r"\1<time>"),
    (re.compile(r'(uuid": ?)"[-0-9a-f]{36}"'), r"\1<uuid>"),
    (re.compile(r'("declaration": ?)"[0-9a-f]{64}"'), r"\1<digest>"),
    (re.compile(r'("(?:key|previous)": ?)"[0-9a-f]{64}"'), r"\1<digest>"),
    (re.compile(r'("call": ?"|\bcall )[0-9a-f]{12}\b'), r"\1<id>"),
    (re.compile(r'("(?:seconds|queued|latency_ms|queued_ms)": ?)[-+.\de]+'), r"\1<duration>"),
    (re.compile(r"((?:environment [a-z_]+|recipe)(?:</small>)? sha256:)[0-9a-f]+"), r"\1<digest>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
)
"""What differs between two runs, or with the source of an environment, which digests of it and of recipes cover."""


def make_record(case: Case, folder: Path | None = None) -> Record:
    """Carry the case out in an empty folder: ``folder``, or one that is removed afterwards."""
    with contextlib.ExitStack() as stack:
        folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        before = Path.cwd()
        stack.callback(os.chdir, before)
        os.chdir(folder)
        case.write()
        return {
            str(path.relative_to(folder)): _entry(path, normalize(path.read_text(encoding="utf-8"), folder), case.whole)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix not in (LEFT_OUT | RENDERED if case.slow else LEFT_OUT)
        }


def normalize(text: str, folder: Path) -> str:
    for path, name in ((folder.resolve(), "<folder>"), (folder, "<folder>"), (ROOT, "<checkout>")):
        text = text.replace(str(path), name)
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return text


def _entry(path: Path, text: str, whole: int) -> dict[str, Any]:
    rendered = path.suffix in RENDERED
    if len(text) <= whole and not rendered:
        return {"text": text}
    lines = text.splitlines()
    entry: dict[str, Any] = {"sha256": hashlib.sha256(text.encode()).hexdigest()}
    if not rendered:
        entry["sample"] = lines[0][:SAMPLE]
    if len(lines) <= 200 and not rendered:
        entry["lines"] = " ".join(_short(line) for line in lines)
    return entry


def _short(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()[:8]


def read_record(name: str) -> Record:
    record: Record = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return record


def write_record(name: str, record: Record) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True)
    (DATA / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def differences(expected: Record, found: Record) -> Iterator[str]:
    """One line for each file that differs, with the numbers of its lines."""
    for name in sorted({*expected, *found}):
        old, new = expected.get(name), found.get(name)
        if old is None or new is None:
            yield f"{name}: {'new' if old is None else 'missing'}"
        elif old != new:
            yield f"{name}: {_what(old, new)}"


def _what(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if "text" in old and "text" in new:
        return f"\n--- golden\n{old['text']}\n--- now\n{new['text']}"
    before, after = (str(entry.get("lines", "")).split() for entry in (old, new))
    if not before or not after:
        return "other content"
    if len(before) != len(after):
        return f"{len(after)} lines, not {len(before)}"
    changed = [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]]
    return f"other in line {', '.join(map(str, changed[:20]))}" + (" ..." if len(changed) > 20 else "")
