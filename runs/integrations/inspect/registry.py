"""What Inspect finds by the entry point ``inspect_ai``: ``lawtrace/tasks``, ``lawtrace/guard`` and the others."""

from lawtrace.runs.integrations.inspect.approver import guard
from lawtrace.runs.integrations.inspect.attempt_solver import attempt
from lawtrace.runs.integrations.inspect.metrics import outcomes, pairs, rules_broken
from lawtrace.runs.integrations.inspect.scorers import dual_oracle, rules_kept
from lawtrace.runs.integrations.inspect.tasks import tasks

__all__ = ["attempt", "dual_oracle", "guard", "outcomes", "pairs", "rules_broken", "rules_kept", "tasks"]
