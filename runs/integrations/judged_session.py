"""A session of the tool server, judged after every call, and its files.

The files have the layout of a run folder, so ``lawtrace grade DIR`` judges the session again. They are never sent to a
client.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.runtime.attempt_session import AttemptSession
from lawtrace.environments.runtime.session import CallResult, Session
from lawtrace.environments.spec.state import State
from lawtrace.runs.scoring.judge import judge, judge_rules
from lawtrace.runs.stages.execution import attempt_so_far
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.choices import ShieldMode, Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.tool_conversation import AttemptLimits
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """The setup of a session.

    Attributes:
        task: the task; None for a session from an initial state, where only the rules are judged.
        style: the style of the instruction given to the client.
        calls: the maximum number of calls.
        shield: whether calls that break a rule are refused or warned about.
    """

    domain: Domain
    initial: State
    rules: Sequence[Rule]
    name: str
    task: Task | None = None
    style: Style = "goal"
    calls: int = 1000
    shield: ShieldMode = "off"


class JudgedSession:
    """A session shared by all clients. Calls are executed one at a time, in order of arrival."""

    def __init__(self, setup: SessionSetup, folder: Path) -> None:
        """`folder`: where the files are written, now and after each call."""
        self.setup = setup
        self._folder = RunFolder(folder)
        domain = setup.domain
        shield = Shields(domain.environment, domain.regulation).open(setup.rules, setup.shield)
        session = Session(domain.environment, setup.initial, shield)
        self._session = AttemptSession(session, AttemptLimits(calls=setup.calls))
        if setup.task is not None:
            write_tasks(self._folder.tasks, [setup.task])
        else:
            write_rows(self._folder.rules, setup.rules)
        self._write()

    def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Execute a call, and write the files before answering. Never raises because of a call."""
        result = self._session.call(tool, arguments)
        self._write()
        return result

    @property
    def attempt(self) -> Attempt:
        """The current session as an attempt."""
        setup = self.setup
        return attempt_so_far(self._session, setup.name, setup.style, "mcp client", setup.shield)

    def _write(self) -> None:
        """Write the files of the session, each atomically: what the verdict is if the session ends now."""
        setup, attempt = self.setup, self.attempt
        write_rows(self._folder.attempts, [attempt])
        if setup.task is not None:
            write_rows(self._folder.verdicts, [judge(setup.domain.environment, setup.task, attempt)])
        else:
            session = self._session.session
            verdicts = judge_rules(setup.rules, session.events, (), end=session.end, explained=True)
            write_rows(self._folder.path / "rule_verdicts.jsonl", verdicts)
