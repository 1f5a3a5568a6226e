"""What messages say: answers of a model to predicates of rules, in a file of JSON lines that people can label."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from lawtrace.runs.audit.rates import RateTable, RuleRates
from lawtrace.schemas.errors import InputError, describe_validation_error, input_errors
from lawtrace.schemas.models import StrictModel

Asked = tuple[str, str, str]
"""A speaker, a predicate, and the text of a message."""


class PredicateAnswer(StrictModel):
    """Whether a message says something.

    Attributes:
        says: the answer of the model; None if it gave none that could be used.
        words: the words of the message that decide, or why there is no answer.
        model: its spec, and ``prompt`` the hash of the prompt.
        label: what a person says; None without a label.
    """

    speaker: Literal["user", "agent"]
    predicate: str = Field(min_length=1)
    text: str
    says: bool | None
    words: str = ""
    model: str = ""
    prompt: str = ""
    label: bool | None = None

    @property
    def asked(self) -> Asked:
        return self.speaker, self.predicate, self.text


def read_answers(path: Path) -> dict[Asked, PredicateAnswer]:
    """The answers of a file, the last to each question. Raises InputError naming the line."""
    found: dict[Asked, PredicateAnswer] = {}
    with input_errors(path):
        lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            one = PredicateAnswer.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {describe_validation_error(error)}") from error
        found[one.asked] = one
    return found


def known_answers(path: Path) -> dict[Asked, bool]:
    """The answers of a file that say yes or no; none if there is no such file yet."""
    found = read_answers(path) if path.exists() else {}
    return {asked: one.says for asked, one in found.items() if one.says is not None}


def predicate_rates(answers: Iterable[PredicateAnswer], predicates: Sequence[str]) -> RateTable | None:
    """Precision and recall of the model by the labels of people; None without a label of these predicates."""
    labelled = [one for one in answers if one.label is not None and one.predicate in predicates]
    rates: list[RuleRates] = []
    for predicate in predicates:
        own = [one for one in labelled if one.predicate == predicate]
        right = sum(bool(one.says and one.label) for one in own)
        if own:
            rates.append(
                RuleRates(predicate, sum(bool(one.says) for one in own), right, sum(bool(one.label) for one in own))
            )
    if not rates:
        return None
    why = f"{len(labelled)} labelled messages: precision of what the model finds, and recall of what people find."
    return RateTable("Predicates against labels", (why,), rates)


def judged_by(says: Mapping[Asked, bool], speaker: str, predicates: Iterable[str], text: str) -> dict[str, bool]:
    """What is known of a message, by predicate."""
    asked = ((predicate, (speaker, predicate, text)) for predicate in predicates)
    return {predicate: says[one] for predicate, one in asked if one in says}
