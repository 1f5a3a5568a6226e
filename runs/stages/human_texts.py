"""Texts written by hand, matched to the requests that they are for, and checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.runs.store.text_file import WrittenPair, WrittenTexts
from lawtrace.runs.tasks import Task, trace_of
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import Contrast, TraceRow
from lawtrace.solver.masking.requests import AskedRequest, Secret
from lawtrace.solver.masking.text_checks import (
    SAME_OPENING,
    TextFinding,
    check_text,
    find_alike,
    find_stock_openings,
    says_keys,
)
from lawtrace.solver.traces import PlannedCall, literal_calls


@dataclass(frozen=True, slots=True)
class EntryFinding:
    """A defect of an entry. ``style``: None where it concerns both texts."""

    entry: str
    style: Style | None
    finding: TextFinding


def entry_id(row: TraceRow | Task) -> str:
    """The name of the entry for a trace or task: the id of its contrast pair, or its own."""
    return row.id if row.contrast is None else row.contrast.pair


def secret_of(environment: Environment, contrast: Contrast | None) -> Secret | None:
    """The fact of a contrast pair, as texts must not reveal it."""
    if contrast is None:
        return None
    value_type = environment.entities[contrast.table].fields[contrast.field].type
    return Secret(contrast.fact, value_type, (contrast.value, contrast.other))


def asked_requests(environment: Environment, rows: Sequence[TraceRow | Task]) -> dict[str, AskedRequest]:
    """The requests of traces or tasks, by the id of the pair or task. Of a pair both sides must be there."""
    units: dict[str, list[TraceRow | Task]] = {}
    for row in rows:
        units.setdefault(entry_id(row), []).append(row)
    found: dict[str, AskedRequest] = {}
    for name, sides in units.items():
        asked = [_asked(environment, side) for side in sides]
        initials, calls = tuple(initial for initial, _ in asked), literal_calls(environment, asked[0][1])
        found[name] = AskedRequest(environment, initials, calls, secret_of(environment, sides[0].contrast))
    return found


def _asked(environment: Environment, row: TraceRow | Task) -> tuple[State, Sequence[PlannedCall]]:
    """The initial state of a trace or task, and the calls that are asked for."""
    if isinstance(row, Task):
        return row.initial(environment), row.requested
    trace = trace_of(row, environment)
    return trace.initial, trace.calls


def check_texts(requests: Mapping[str, AskedRequest], texts: WrittenTexts) -> list[EntryFinding]:
    """All findings on the texts, entry by entry; texts that are alike last."""
    findings: list[EntryFinding] = []
    outlines: dict[tuple[str, Style], str] = {}
    for name, pair in texts.pairs.items():
        request = requests.get(name)
        if (stale := stale_reason(request, pair)) is not None:
            findings.append(EntryFinding(name, None, TextFinding("complete", stale)))
            continue
        assert request is not None
        if not pair.goal.strip() and not pair.workflow.strip():
            findings.append(EntryFinding(name, None, TextFinding("complete", "no text yet")))
            continue
        used: set[str] = set()
        for style in STYLES:
            checked = check_text(request, style, pair.text(style), pair.says)
            findings += [EntryFinding(name, style, finding) for finding in checked.findings]
            outlines[name, style] = checked.outline
            used |= checked.used
        findings += [EntryFinding(name, None, finding) for finding in _useless_notes(request, pair, used)]
    return [*findings, *_alike(texts, outlines)]


def _alike(texts: WrittenTexts, outlines: Mapping[tuple[str, Style], str]) -> Iterator[EntryFinding]:
    for (entry, style), earlier in find_alike(outlines):
        detail = f"the text equals that of {'/'.join(earlier)} but for its values; write another one"
        yield EntryFinding(entry, style, TextFinding("distinct", detail))
    for style in STYLES:
        written = {name: pair.text(style) for name, pair in texts.pairs.items() if pair.text(style)}
        for entry, opening in find_stock_openings(written):
            detail = f"more than {SAME_OPENING} texts begin with {opening!r}; begin in another way"
            yield EntryFinding(entry, style, TextFinding("distinct", detail, opening))


def stale_reason(request: AskedRequest | None, pair: WrittenPair) -> str | None:
    """Why an entry does not belong to these traces or tasks, and what to do; None if it does."""
    if request is None:
        return "no pair or task has this id; remove the entry, or give the traces that it was written for"
    if request.fingerprint != pair.asked:
        return (
            f"written for other calls (asked is {pair.asked!r}, now {request.fingerprint!r}); read the calls again, "
            f'adapt the texts, and write asked = "{request.fingerprint}"'
        )
    return None


def require_texts(requests: Mapping[str, AskedRequest], texts: WrittenTexts, path: Path) -> None:
    """Raise InputError for the first defect of the texts."""
    for found in check_texts(requests, texts):
        style = f", {found.style}" if found.style else ""
        raise InputError(f"{path}, [{found.entry}]{style}: {found.finding}; see `lawtrace tasks texts`")


def _useless_notes(request: AskedRequest, pair: WrittenPair, used: set[str]) -> Iterator[TextFinding]:
    known = says_keys(request)
    for key, wordings in pair.says.items():
        if key not in known:
            detail = f"says has {key!r}, which no asked call has; it can have {', '.join(sorted(known))}"
            yield TextFinding("complete", detail)
            continue
        for words in wordings:
            if words not in used:
                yield TextFinding("complete", f"says notes {words!r}, which neither text has", words)
