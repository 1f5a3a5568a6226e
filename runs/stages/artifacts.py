"""The files that the stages of a run over tasks write and read."""

from lawtrace.agents.conversations.formalized_group import FormalizedGroup
from lawtrace.runs.store.stage_store import StageFile
from lawtrace.runs.store.task_file import TaskFile
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.findings import BaselineRow, Findings, HabitRow, OracleStrengthRow, TaskFunnelRow
from lawtrace.schemas.quality_rows import QualityRow
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.rules import Rule

EXTRACTED_RULES = StageFile("extracted_rules.jsonl", Rule)
FORMALIZED = StageFile("formalized.jsonl", FormalizedGroup)
RULES = StageFile("rules.jsonl", Rule)
TRACES = StageFile("traces.jsonl", TraceRow)
BASELINE = StageFile("baseline.jsonl", BaselineRow)
TASKS = TaskFile("tasks.jsonl")
TASK_FUNNEL = StageFile("task_funnel.jsonl", TaskFunnelRow)
ORACLE_STRENGTH = StageFile("oracle_strength.jsonl", OracleStrengthRow)
HABITS = StageFile("habits.jsonl", HabitRow)
ATTEMPTS = StageFile("attempts.jsonl", Attempt)
VERDICTS = StageFile("verdicts.jsonl", Verdict)
FINDINGS = StageFile("findings.jsonl", Findings)
QUALITY = StageFile("quality.jsonl", QualityRow)
