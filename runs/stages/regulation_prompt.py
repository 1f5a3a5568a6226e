"""What each prompt of a model under test says about the law, and whether it contains what the rules cite."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import assert_never

from lawtrace.agents.prompt_context import NO_LAW, RegulationText
from lawtrace.environments.regulations.published_law import PublishedLaw
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import RegulationForm
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import request_id
from lawtrace.solver.rules import Rule

_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Law:
    """The law of a run in the form that the models under test are given.

    Attributes:
        restated: the restatement of the environment.
        published: the documents of the user; needed by the form ``text``.
        words: None for the whole text; otherwise the provisions that apply to a task, and others up to this many words.
        seed: draws the other provisions.
        manual: show the manual of the owner of the tools.
    """

    form: RegulationForm
    restated: Regulation
    published: PublishedLaw | None = None
    words: int | None = None
    seed: int = 1
    manual: bool = True

    @property
    def regulation(self) -> Regulation:
        """The provisions as the models are given them; the restatement if they are given none."""
        return self.published.regulation if self.form == "text" and self.published is not None else self.restated

    @property
    def name(self) -> str:
        return self.restated.plain_name if self.published is None else self.published.title

    def cited(self, rules: Iterable[Rule]) -> list[str]:
        """The citations in this law that the rules have."""
        return list(dict.fromkeys(citation for rule in rules if self._is_about(rule) for citation in rule.provisions))

    def _is_about(self, rule: Rule) -> bool:
        """A document has no short name, so citations of every regulation are looked up in it."""
        return self.form == "text" or rule.regulation == self.restated.id

    def check(self, rules: Iterable[Rule]) -> None:
        """Check that the text contains every provision that the rules cite.

        Raises InputError listing those that it lacks, or if there is no text. ``named`` and ``none`` need no check.
        """
        if self.form in {"named", "none"}:
            return
        if self.form == "text" and self.published is None:
            raise InputError(
                "attempts.regulation = 'text' needs the documents of the law: name them in regulation.files, or with "
                "--regulation-file"
            )
        missing = [
            citation if self._is_about(rule) else f"{rule.regulation} {citation}".strip()
            for rule in rules
            for citation in rule.provisions
            if rule.source == "law"
            if not (self._is_about(rule) and self.regulation.cited(citation))
        ]
        if not missing:
            return
        missing = list(dict.fromkeys(missing))
        listed = ", ".join(missing[:_MOST_LISTED]) + (", ..." if len(missing) > _MOST_LISTED else "")
        source = (
            self.regulation.source if self.form == "text" else f"the regulation of the environment ({self.restated.id})"
        )
        remedy = "give the documents that contain them"
        if self.form == "restated":
            remedy = "name the documents of the law in regulation.files and set attempts.regulation = 'text'"
        raise InputError(f"the rules cite provisions that are not in {source}: {listed}; {remedy}")

    def regulation_texts(self, tasks: Sequence[Task]) -> dict[str, RegulationText]:
        """For each task what its prompt says. Both sides of a contrast pair get the same.

        Raises InputError for a contrast pair of which one side is missing, if the text depends on the task.
        """
        manual = self.restated.manual_text() if self.manual else ""
        return {task: replace(text, manual=manual) for task, text in self._laws(tasks).items()}

    def _laws(self, tasks: Sequence[Task]) -> dict[str, RegulationText]:
        match self.form:
            case "none":
                return dict.fromkeys((task.id for task in tasks), NO_LAW)
            case "named":
                return dict.fromkeys((task.id for task in tasks), RegulationText("name", self.name))
            case "text" | "restated" if self.words is None:
                return dict.fromkeys((task.id for task in tasks), RegulationText("whole", self._text(None)))
            case "text" | "restated":
                applicable = self.applicable(tasks)
                return {task.id: self._part(request_id(task), applicable[task.id]) for task in tasks}
            case _:
                assert_never(self.form)

    def applicable(self, tasks: Sequence[Task]) -> dict[str, frozenset[str]]:
        """For each task the provisions of the rules that apply to it: that its reference triggers, or the trace that
        its request was made from. Both sides of a contrast pair have those of either side, so the text does not tell
        them apart.

        Raises InputError for a contrast pair of which one side is missing.
        """
        sides = Counter(task.contrast.pair for task in tasks if task.contrast is not None)
        lone = next((pair for pair, number in sides.items() if number != 2), None)
        if lone is not None:
            raise InputError(
                f"contrast pair {lone}: only one side is there; attempts.regulation_words needs both sides"
            )
        found: dict[str, set[str]] = {}
        for task in tasks:
            asked = judge_rules(task.rules, [call.event for call in task.asked_calls], ())
            applying = {*task.applicable, *(verdict.rule for verdict in asked if verdict.triggered)}
            cited = self.cited(rule for rule in task.rules if rule.id in applying)
            found.setdefault(request_id(task), set()).update(
                provision.citation for citation in cited for provision in self.regulation.cited(citation)
            )
        return {task.id: frozenset(found[request_id(task)]) for task in tasks}

    def _part(self, request: str, applicable: frozenset[str]) -> RegulationText:
        """The provisions that apply and, while they fit into the words, others in an order drawn by the seed."""
        assert self.words is not None
        provisions = self.regulation.provisions
        chosen = {provision.citation for provision in provisions if provision.citation in applicable}
        left = self.words - sum(_length(provision) for provision in provisions if provision.citation in chosen)
        others = [provision for provision in provisions if provision.citation not in chosen]
        Random(f"{self.seed} {request}").shuffle(others)
        for provision in others:
            left -= _length(provision)
            if left < 0:
                break
            chosen.add(provision.citation)
        return RegulationText("provisions", self._text(chosen)) if chosen else RegulationText("name", self.name)

    def _text(self, chosen: set[str] | None) -> str:
        if self.form == "text":
            assert self.published is not None
            return self.published.layout(chosen)
        part = self.restated
        if chosen is not None:
            part = part.with_provisions([one for one in part.provisions if one.citation in chosen])
        return part.text()


def _length(provision: Provision) -> int:
    return len(provision.words().split())
