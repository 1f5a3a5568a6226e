"""A tool session that can be judged after every call, with or without stage files.

The files have the layout of a run folder, so ``lawtrace grade DIR`` judges the session again. They are never sent to a
client.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.runtime.session import CallResult, Session
from lawtrace.environments.spec.state import State, encode_state
from lawtrace.runs.scoring.judge import RuleJudge, judge, judge_rules
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt, Execution, ExecutionStatus, Objection
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.rules import Rule

MAX_ARGUMENT_BYTES = 1_000_000
MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """The setup of a session.

    Attributes:
        task: the task; None for a session from an initial state, where only the rules are judged.
        style: the style of the instruction given to the client.
        calls: the maximum number of calls.
        shield: whether calls that break a rule are refused or warned about.
        model: the name of the client in the rows.
        shields: of the sessions in this environment, so that they compile the rules once; new ones by default.
    """

    domain: Domain
    initial: State
    rules: Sequence[Rule]
    name: str
    task: Task | None = None
    style: Style = "goal"
    calls: int = 1000
    shield: ShieldMode = "off"
    model: str = "mcp client"
    shields: Shields | None = None


class JudgedSession:
    """A session shared by all clients. Calls are executed one at a time, in order of arrival."""

    def __init__(self, setup: SessionSetup, folder: Path | None = None) -> None:
        """`folder`: where the files are written after each call; None for no files."""
        self.setup = setup
        self.folder = None if folder is None else RunFolder(folder)
        domain = setup.domain
        shields = setup.shields or Shields(domain.environment, domain.regulation)
        self._session = Session(domain.environment, setup.initial, shields.open(setup.rules, setup.shield))
        self._status: ExecutionStatus = "finished"
        self._reason: str | None = None
        if self.folder is not None:
            if setup.task is not None:
                write_tasks(self.folder.tasks, [setup.task])
            else:
                write_rows(self.folder.rules, setup.rules)
        self.write()

    def call(self, tool: str, arguments: Mapping[str, Json] | str) -> CallResult:
        """Execute a call, and write the files before answering. Never raises because of a call.

        `arguments`: an object, or its JSON text as a model wrote it.
        """
        if len(self._session.events) >= self.setup.calls:
            self.stop("call_limit", f"more than {self.setup.calls} calls")
            return CallResult(
                Event(tool[:MAX_NAME_CHARACTERS], {}, "rejected", None, "CallLimitError: the call limit is reached")
            )
        answer = self._execute(tool[:MAX_NAME_CHARACTERS], arguments)
        self.write()
        return answer

    def _execute(self, tool: str, arguments: Mapping[str, Json] | str) -> CallResult:
        try:
            written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            size = len(written.encode())
        except (TypeError, ValueError, RecursionError):  # a lone surrogate, nested too deep, or no JSON at all
            return self._session.reject(tool, "the arguments are not strict JSON")
        if size > MAX_ARGUMENT_BYTES:
            return self._session.reject(tool, f"the arguments are larger than {MAX_ARGUMENT_BYTES} bytes")
        return self._session.call_written(tool, written)

    def stop(self, status: ExecutionStatus, reason: str) -> None:
        """Note that a limit ended the session, so that the goal counts as missed."""
        self._status, self._reason = status, reason
        self.write()

    @property
    def events(self) -> Sequence[Event]:
        """The events so far."""
        return self._session.events

    @property
    def now(self) -> int:
        """The simulated time, in seconds since 1970."""
        return self._session.now

    def open_duties(self) -> Objection | None:
        """The shield's objection to ending the session now."""
        return self._session.open_duties()

    @property
    def attempt(self) -> Attempt:
        """The current session as an attempt."""
        setup, events = self.setup, tuple(self._session.events)
        answer = Answer(
            task=setup.name,
            style=setup.style,
            model=setup.model,
            mode="tools",
            shield=setup.shield,
            program=None,
            id=setup.name,
        )
        row = Attempt(answer=answer, objections=tuple(self._session.objections))
        if not events:
            return row
        final = encode_state(self._session.state, setup.domain.environment.entities)
        execution = Execution(self._status, self._reason, None, None, "", len(events))
        return row.model_copy(
            update={"execution": execution, "events": events, "end": self._session.end, "final_state": final}
        )

    def verdict(self, rule_judge: RuleJudge | None = None) -> Verdict | None:
        """The verdict if the session ended now; None without a task. `rule_judge`: by the same rules, to save time."""
        task = self.setup.task
        return judge(self.setup.domain.environment, task, self.attempt, rule_judge) if task is not None else None

    def rules(self) -> tuple[RuleVerdict, ...]:
        """The rule verdicts if the session ended now."""
        applicable = self.setup.task.applicable if self.setup.task is not None else ()
        return judge_rules(self.setup.rules, self._session.events, applicable, end=self._session.end, explained=True)

    def write(self) -> None:
        """Write the files of the session, each atomically, if it has files."""
        if self.folder is None:
            return
        write_rows(self.folder.attempts, [self.attempt])
        verdict = self.verdict()
        if verdict is not None:
            write_rows(self.folder.verdicts, [verdict])
        else:
            write_rows(self.folder.path / "rule_verdicts.jsonl", self.rules())
