"""lawtrace: do tool-calling agents comply with regulations they are not reminded of?

The public API. Everything else may change between versions.

    import lawtrace

    bank = lawtrace.load_environment("banking")
    rules = lawtrace.load_rules(bank.rules_file, bank)
    verdict = lawtrace.judge(rules, [{"tool": "PayBill", "arguments": {...}, "result": {...}}])
    verdict.kept, [rule.rule for rule in verdict.broken]

    for row in lawtrace.audit(rules, "transcripts.jsonl", bank):
        row.conversation, row.outcome, row.reason

    guard = lawtrace.Guard(rules, bank)
    guard.before({"tool": "PayBill", "arguments": {...}})  # Allow, or Refuse with what to call first

    run = lawtrace.run("recipe.toml")
    run.verdicts.to_pandas()

Names are imported when they are first used, so ``import lawtrace`` costs nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lawtrace._judge import RuleSet, TraceVerdict, judge, load_environment, load_rules
    from lawtrace._run import Run, Verdicts, load_run, run
    from lawtrace.agents.guarded_tools import GuardedAgent, GuardedWorkbench
    from lawtrace.runs.audit.audit import Audit, audit
    from lawtrace.schemas.audit_rows import AuditRow
    from lawtrace.schemas.errors import InputError, LawtraceError, OperationalError
    from lawtrace.schemas.events import Event
    from lawtrace.schemas.recipe import Recipe
    from lawtrace.solver.declarations.loader import Domain
    from lawtrace.solver.guard.decisions import (
        Allow,
        Call,
        Finding,
        OpenDuty,
        Permission,
        PermissionRequest,
        Refuse,
        Step,
    )
    from lawtrace.solver.guard.guard import Guard
    from lawtrace.solver.guard.log import GuardLog
    from lawtrace.solver.rules import Rule

__all__ = [
    "Allow",
    "Audit",
    "AuditRow",
    "Call",
    "Domain",
    "Event",
    "Finding",
    "Guard",
    "GuardLog",
    "GuardedAgent",
    "GuardedWorkbench",
    "InputError",
    "LawtraceError",
    "OpenDuty",
    "OperationalError",
    "Permission",
    "PermissionRequest",
    "Recipe",
    "Refuse",
    "Rule",
    "RuleSet",
    "Run",
    "Step",
    "TraceVerdict",
    "Verdicts",
    "audit",
    "judge",
    "load_environment",
    "load_rules",
    "load_run",
    "run",
]

_NAMES = {
    "_judge": ("RuleSet", "TraceVerdict", "judge", "load_environment", "load_rules"),
    "_run": ("Run", "Verdicts", "load_run", "run"),
    "agents.guarded_tools": ("GuardedAgent", "GuardedWorkbench"),
    "solver.declarations.loader": ("Domain",),
    "runs.audit.audit": ("Audit", "audit"),
    "schemas.audit_rows": ("AuditRow",),
    "schemas.errors": ("InputError", "LawtraceError", "OperationalError"),
    "schemas.events": ("Event",),
    "schemas.recipe": ("Recipe",),
    "solver.guard.decisions": (
        "Allow",
        "Permission",
        "Call",
        "Finding",
        "OpenDuty",
        "PermissionRequest",
        "Refuse",
        "Step",
    ),
    "solver.guard.guard": ("Guard",),
    "solver.guard.log": ("GuardLog",),
    "solver.rules": ("Rule",),
}
"""Module -> its public names."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'lawtrace' has no attribute {name!r}")
    from importlib import import_module

    module = next(module for module, names in _NAMES.items() if name in names)
    value: object = getattr(import_module(f"lawtrace.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
