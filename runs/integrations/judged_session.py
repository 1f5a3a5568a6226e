"""A session with the tools that is judged as it goes, and written down after every call.

What is written is laid out like the folder of a run, so ``lawtrace grade DIR`` judges it again by the same oracles.
None of it is ever sent to a client: it is for whoever started the server.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.session import CallResult, Session
from lawtrace.environments.sandbox import Execution, ExecutionStatus
from lawtrace.environments.spec.state import State, encode_state
from lawtrace.runs.schemas.task_rows import Attempt, Task
from lawtrace.runs.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.runs.scoring.judge import judge, judge_rules
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.rules import Rule
from lawtrace.solver.shield import Shield, ShieldMode

MAX_ARGUMENT_BYTES = 1_000_000
MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """What the session is about.

    Attributes:
        task: the task that is to be done; None for a session from an initial state without one, in which only the
            rules are judged.
        style: which of the task's instructions the client is given.
        calls: how many calls are taken.
        shield: whether the monitors stand in front of the tools too.
    """

    setting: Domain
    initial: State
    rules: Sequence[Rule]
    name: str
    task: Task | None = None
    style: Style = "goal"
    calls: int = 1000
    shield: ShieldMode = "off"


class JudgedSession:
    """One session, whoever calls. Calls are carried out one after the other, in the order in which they arrive."""

    def __init__(self, assignment: SessionSetup, folder: Path) -> None:
        self.setup = assignment
        self.folder = RunFolder(folder)
        mode, regulation = assignment.shield, assignment.setting.regulation
        guard = None if mode == "off" else Shield(assignment.rules, regulation, mode)
        self._session = Session(assignment.setting.environment, assignment.initial, guard)
        self._status: ExecutionStatus = "finished"
        if assignment.task is not None:
            write_rows(self.folder.tasks, [assignment.task])
        else:
            write_rows(self.folder.rules, assignment.rules)
        self.write()

    def call(self, tool: str, arguments: dict[str, Json]) -> CallResult:
        """Carry out a call, judge, and write both down before the answer is given. Total: no call makes it raise."""
        if len(self._session.events) >= self.setup.calls:
            self._status = "call_limit"
            self.write()
            return CallResult(
                Event(tool[:MAX_NAME_CHARACTERS], {}, "rejected", None, "CallLimitError: no more calls are taken")
            )
        answer = self._carry_out(tool[:MAX_NAME_CHARACTERS], arguments)
        self.write()
        return answer

    def _carry_out(self, tool: str, arguments: dict[str, Json]) -> CallResult:
        try:
            written = json.dumps(arguments, ensure_ascii=False)
            size = len(written.encode())
        except (ValueError, RecursionError):  # a lone surrogate, or nested beyond measure
            return self._session.reject(tool, "the arguments are not strict JSON")
        if size > MAX_ARGUMENT_BYTES:
            return self._session.reject(tool, f"the arguments are larger than {MAX_ARGUMENT_BYTES} bytes")
        return self._session.call_written(tool, written)

    @property
    def attempt(self) -> Attempt:
        """The session so far as an attempt."""
        assignment, events = self.setup, tuple(self._session.events)
        row = Attempt(
            task=assignment.name,
            style=assignment.style,
            model="mcp client",
            mode="tools",
            shield=assignment.shield,
            objections=tuple(self._session.objections),
        )
        if not events:
            return row
        final = encode_state(self._session.state, assignment.setting.environment.entities)
        error = None if self._status == "finished" else f"more than {assignment.calls} calls"
        execution = Execution(self._status, error, None, None, "", len(events))
        return row.model_copy(update={"execution": execution, "events": events, "final_state": final})

    def verdict(self) -> Verdict | None:
        """The verdict if the session ended here; None if there is no task to judge by."""
        task = self.setup.task
        return judge(self.setup.setting.environment, task, self.attempt) if task is not None else None

    def rules(self) -> tuple[RuleVerdict, ...]:
        """What became of each rule if the session ended here."""
        applicable = self.setup.task.applicable if self.setup.task is not None else ()
        return judge_rules(self.setup.rules, self._session.events, applicable)

    def write(self) -> None:
        """The session so far, whole files at a time: what is read is never half of one."""
        write_rows(self.folder.attempts, [self.attempt])
        verdict = self.verdict()
        if verdict is not None:
            write_rows(self.folder.verdicts, [verdict])
        else:
            write_rows(self.folder.path / "rule_verdicts.jsonl", self.rules())
