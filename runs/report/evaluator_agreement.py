"""Agreement of two evaluators of requests on the same drafts, when the role has changed from one run to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lawtrace.runs.report.message_view import json_fields
from lawtrace.runs.scoring.agreement import cohen_kappa
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import MessageSent


@dataclass(frozen=True, slots=True)
class EvaluatorAgreement:
    """How often two evaluators accept or reject the same drafts.

    Attributes:
        models: of the first and the second run.
        both, neither: drafts that both accept, and that both reject; ``only_first``, ``only_second``: that one accepts.
        agreement, kappa: the share on which they agree; Cohen's kappa, None where chance alone gives full agreement.
    """

    models: tuple[str, str]
    both: int
    neither: int
    only_first: int
    only_second: int
    agreement: float
    kappa: float | None

    def __str__(self) -> str:
        kappa = "not defined" if self.kappa is None else f"{self.kappa:.2f}"
        drafts = self.both + self.neither + self.only_first + self.only_second
        return (
            f"Evaluators {self.models[0]} and {self.models[1]} on {drafts} drafts that both saw: agreement "
            f"{100 * self.agreement:.1f} %, kappa {kappa}. Both accept {self.both}, both reject {self.neither}, only "
            f"the first accepts {self.only_first}, only the second {self.only_second}."
        )


def compare_evaluators(first: Path, second: Path) -> EvaluatorAgreement | None:
    """None if a run has no event log, the evaluators are the same, or they saw no draft in common."""
    if not all(event_log_path(path).is_file() for path in (first, second)):
        return None
    (one, ours), (other, theirs) = _accepted(first), _accepted(second)
    common = [(ours[draft], theirs[draft]) for draft in ours if draft in theirs]
    if one == other or not common:
        return None
    both, neither = common.count((True, True)), common.count((False, False))
    only_first, only_second = common.count((True, False)), common.count((False, True))
    kappa = cohen_kappa([str(mine) for mine, _ in common], [str(theirs) for _, theirs in common])
    agreed = (both + neither) / len(common)
    return EvaluatorAgreement((one, other), both, neither, only_first, only_second, agreed, kappa)


def _accepted(path: Path) -> tuple[str, Mapping[tuple[str | None, ...], bool]]:
    """The evaluator of a run, and whether it accepts, by variant, task, style and text of the draft."""
    models, accepted, drafts = dict[str, None](), dict[tuple[str | None, ...], bool](), dict[str, str]()
    with EventLogFile.open(path) as event_log:
        for line in event_log.entries(kind="message"):
            if not isinstance(line, MessageSent) or line.source not in ("instruction_generator", "masking_evaluator"):
                continue
            context, fields = line.context, json_fields(line.content)
            if fields is None:  # an answer that was asked for again
                continue
            if line.source == "instruction_generator":
                drafts[context.conversation_id] = str(fields.get("text"))
            elif draft := drafts.get(context.conversation_id):
                models[str(context.model)] = None
                key = (context.variant, context.task, context.style, draft)
                accepted.setdefault(key, all(fields.get(name, True) for name in ("unambiguous", "masked", "natural")))
    return ", ".join(models), accepted
