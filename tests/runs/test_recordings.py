"""A recording is replayed word for word, and by place after prompts changed; a run folder is replayed strictly."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lawtrace.agents.conversations.rule_proposal import invalid_rules
from lawtrace.agents.roles.rule_answers import Proposal
from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.runs.store import recording
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import MessageSent, ModelCalled
from lawtrace.solver.declarations.loader import load_domain
from tests.support.bank_task import make_task
from tests.support.openai_server import serving
from tests.support.shell import Shell

NAME = "two.jsonl.xz"


def attempt(models: str, out: str, *more: str) -> tuple[str, ...]:
    of = [word for name in ("first", "second") for word in ("--model", f"{models}{name}")]
    return ("run", "--tasks", "tasks.jsonl", *of, "--set", "attempts.trials=2", "--out", out, *more)


@pytest.fixture
def recorded(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Two models that tried a task twice each, with another answer every time; in `NAME` and in ``live``."""
    numbers = count()

    def answer(request: Mapping[str, Any]) -> str:
        return f"{request['model']} has attempt {next(numbers)}.\n```python\nBankManager.CheckAuthorization()\n```"

    write_tasks(Path("tasks.jsonl"), [make_task()])
    with serving(answer) as server, monkeypatch.context() as patch:
        server.connect(patch)
        assert lawtrace.json(*attempt("openai:", "live"))["attempts"] == 4
    lawtrace.json("messages", "live", "--save", NAME)
    return lawtrace


def test_a_recording_gives_the_same_attempts_and_shows_the_same_messages(recorded: Shell) -> None:
    code, _, err = recorded(*attempt(f"replay:{NAME}#", "again"))
    assert (code, "differ" in err) == (0, False)
    assert Path("again/attempts.jsonl").read_bytes() == Path("live/attempts.jsonl").read_bytes()
    shown = recorded("messages", NAME, "--prompts")
    assert "second has attempt" in shown[1]


def test_after_a_change_of_the_prompt_answers_are_found_by_place(recorded: Shell) -> None:
    changed = ("--set", "attempts.hints=true")
    code, _, err = recorded(*attempt("replay:live#", "strict", *changed))
    assert (code, "never sent this request" in err) == (3, True)
    code, _, err = recorded(*attempt(f"replay:{NAME}#", "lenient", *changed))
    assert (code, err.count("4 of 4 requests differ from the recorded ones")) == (0, 1)
    assert Path("lenient/attempts.jsonl").read_bytes() == Path("live/attempts.jsonl").read_bytes()
    with EventLogFile.open(Path("live")) as live, EventLogFile.open(Path("lenient")) as lenient:
        assert {call.recorded_hash for call in lenient.answered()} == {call.request_hash for call in live.answered()}
    # The log has what was asked now, so it is replayed strictly, and still says that the answers were recorded earlier.
    code, _, err = recorded(*attempt("replay:lenient#", "third", *changed))
    assert (code, "4 of 4 requests differ" in err) == (0, True)
    code, _, err = recorded(*attempt(f"replay:{NAME}#", "more", *changed, "--set", "attempts.trials=3"))
    assert (code, "turn 0 in two.jsonl.xz" in err, "give the role a model of an endpoint" in err) == (3, True, True)


def test_a_recording_that_ships_is_found_by_its_name(
    recorded: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(recording, "SHIPPED", tmp_path)
    with EventLogFile.open(Path("two")) as event_log:
        calls = list(event_log.answered())
    assert {call.context.model for call in calls} == {"openai:first", "openai:second"}
    assert all(isinstance(call, ModelCalled) and not call.replayed for call in calls)


def test_files_that_are_no_recordings(recorded: Shell) -> None:
    whole = Path(NAME).read_bytes()
    for name, content in {"cut": whole[:-40], "empty": b"", "other": b"SQLite format 3"}.items():
        Path(name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} is not a recording that this lawtrace can read"):
            EventLogFile.open(Path(name))
    assert "exists; give another name" in recorded("messages", "live", "--save", NAME)[2]
    assert "leave the filters out" in recorded("messages", "live", "--save", "x", "--turn", 0)[2]


WORLDS = {"banking": "banking", "rts": "payments", "gdpr": "privacy_desk"}
NEWEST = "rts-exemptions"
"""Recorded with the language of today, which refused two rules of its authors."""
SHIPPED = sorted(path.name.removesuffix(recording.RECORDING_SUFFIX) for path in recording.SHIPPED.glob("*.xz"))


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.partition("-")[0] in WORLDS and name != NEWEST])
def test_recorded_authors_write_what_the_language_of_today_accepts(name: str) -> None:
    """Every rule of the first answers and of the last parses, is safe, and quotes what it cites."""
    domain = load_domain(WORLDS[name.partition("-")[0]])
    proposals: dict[str, list[Proposal]] = {}
    with EventLogFile.open(Path(name)) as event_log:
        for entry in event_log.entries(kind="message", role="policy_extractor"):
            assert isinstance(entry, MessageSent)
            proposals.setdefault(entry.context.unit or "", []).append(Proposal.model_validate_json(entry.content))
    assert len(proposals) >= 2
    for turn in (0, -1):
        written = [several[turn] for several in proposals.values()]
        refused = [one for each in written for one in invalid_rules(each, domain.environment, domain.regulation)]
        assert not refused


@pytest.mark.parametrize(
    ("name", "determinacy", "judged"),
    [
        ("banking", "agreed", 4),
        pytest.param("gdpr-breaches", "settled", 7, marks=pytest.mark.slow),
        pytest.param("gdpr-requests", "contested", 4, marks=pytest.mark.slow),
        pytest.param("rts-authentication", "contested", 3, marks=pytest.mark.slow),
        pytest.param("rts-exemptions", "settled", 4, marks=pytest.mark.slow),
    ],
)
def test_a_recorded_formalization_is_replayed(
    lawtrace: Shell, tmp_path: Path, name: str, determinacy: str, judged: int
) -> None:
    """Real models wrote the rules; what is compared and judged follows from their answers."""
    with EventLogFile.open(Path(name)) as event_log:
        sent = [entry for entry in event_log.entries(role="policy_extractor") if isinstance(entry, MessageSent)]
    units = [entry.context.unit or "" for entry in sent]
    code, _, err = lawtrace(
        *("rules", "formalize", "--env", WORLDS[name.partition("-")[0]]),
        *("--models", f"replay:{name}#first,replay:{name}#second", "--annotators", f"replay:{name}#reader"),
        *("--set", f"models.ltl_critic=replay:{name}#critic"),
        *(word for one in min(units, key=len).split(", ")[:-1] for word in ("--provisions", one)),
    )
    assert code == 0, err
    (group,) = FORMALIZED.read(tmp_path / "rules.formalized.jsonl")
    assert [one.failure for one in group.formalizations] == [None, None]
    assert (group.determinacy, group.questions) == (determinacy, judged)
