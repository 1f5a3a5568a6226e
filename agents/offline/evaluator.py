"""The masking evaluator without a model: values that the plan has and the request lacks, words that hidden tools share
with it, and references that could mean anything."""

import json
import re
from collections.abc import Iterable, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.offline.messages import labelled_json, last_said
from lawtrace.agents.offline.words import words_of

VAGUE = re.compile(
    r"\b(the same account|that account|this account|another account|the above|as before|somebody)\b", re.I
)


def review_request(messages: Sequence[LLMMessage]) -> str:
    request = last_said(messages)
    plan = labelled_json(messages, "plan")
    spoken = words_of(request)
    unclear = [
        f"{entry['tool']}: {name} is not stated"
        for entry in plan
        for name, value in entry["arguments"].items()
        if not all(_stated(item, request) for item in _items(value))
    ]
    unclear += [f"{match!r} could mean several things" for match in VAGUE.findall(request)]
    hinted = [
        f"it shares its words with the hidden {entry['tool']}"
        for entry in labelled_json(messages, "hidden")
        if set(words_of(entry["tool"])) <= set(spoken)
    ]
    return json.dumps({"unambiguous": not unclear, "masked": not hinted, "objections": unclear + hinted})


def _items(value: object) -> Iterable[object]:
    if value is None or isinstance(value, bool):
        return ()
    return value if isinstance(value, list) else (value,)  # pyright: ignore[reportUnknownVariableType]


def _stated(value: object, request: str) -> bool:
    forms = {str(value), f"{value:.2f}"} if isinstance(value, int | float) else {str(value)}
    return any(form.lower() in request.lower() for form in forms)
