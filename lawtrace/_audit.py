"""Auditing recorded conversations and logs: the part of the public API that reads what others wrote."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from lawtrace.runs.audit.audit import Audit, Tools, open_audit
from lawtrace.solver.rules import Rule

Source = str | PathLike[str]


def audit(
    rules: Iterable[Rule] | Source,
    sources: Source | Iterable[Source],
    tools: Tools,
    *,
    complete: bool = False,
    against: Iterable[Rule] | Source | None = None,
    label: str | None = None,
    marks: Source | None = None,
    time_unit: str = "1s",
) -> Audit:
    """Judge recorded conversations, or logs in MonPoly's format, as ``lawtrace audit`` does.

    Nothing is judged before the audit is iterated over, and no row is kept: ``for row in lawtrace.audit(...)`` needs no
    more memory for a large log than for a small one. Each row is an `AuditRow`: the place and id of a conversation, its
    outcome, the reason, the verdict on each rule with its evidence, and the judged events.

    Args:
        rules: each with its own id, or a rule file.
        sources: files and folders (docs/sources.md).
        tools: what the rules are about: an environment, its name or folder; a file of tool schemas; schemas, functions
            or names; for logs the file with their signature.
        complete: whether the records are all that happened. A duty that is open at the end of a complete record is
            broken; at the end of another one, its rule is undetermined.
        against: an older version of the rules. Rows have its verdicts, and the summary compares both.
        label: the label of the sources that the summary compares rules with, such as ``reward<1``.
        marks: a file of findings marked right or wrong, which the summary compares rules with.
        time_unit: the unit of the timestamps of logs: ``1d``, ``1h``, ``1min`` or ``1s``.

    Raises:
        InputError: naming a file that is missing or cannot be read, or a rule that does not fit the tools. A
            conversation that cannot be judged is a row with the outcome ``invalid``.
    """
    named = [sources] if isinstance(sources, str | PathLike) else sources
    return open_audit(
        _path(rules),
        [Path(source) for source in named],
        tools,
        complete=complete,
        against=None if against is None else _path(against),
        label=label,
        marks=None if marks is None else Path(marks),
        time_unit=time_unit,
    )


def _path(rules: Iterable[Rule] | Source) -> Iterable[Rule] | Path:
    return Path(rules) if isinstance(rules, str | PathLike) else rules
