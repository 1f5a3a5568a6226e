"""The instruction generator and the masking evaluator without a model.

The generator prints the plan's descriptions as a goal or as numbered steps. The evaluator looks for values that the
request lacks, for words that it shares with hidden tools, and for vague references.
"""

import json
import re
from collections.abc import Iterable, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json, last_user_message
from lawtrace.agents.scripted.stemming import stemmed_words


def write_request(messages: Sequence[LLMMessage]) -> str:
    plan = labelled_json(messages, "plan")
    words = [entry["in_words"] for entry in plan]
    if labelled_json(messages, "style") == "goal":
        text = "In the end I want the following to be done:\n" + "\n".join(f"- {outcome}" for outcome in words)
    else:
        text = "Please do the following:\n" + "\n".join(f"{number}. {step}" for number, step in enumerate(words, 1))
    return json.dumps({"text": text})


VAGUE = re.compile(
    r"\b(the same account|that account|this account|another account|the above|as before|somebody)\b", re.I
)


def review_request(messages: Sequence[LLMMessage]) -> str:
    request = last_user_message(messages)
    plan = labelled_json(messages, "plan")
    spoken = stemmed_words(request)
    unclear = [
        f"{entry['tool']}: {name} is not stated"
        for entry in plan
        for name, value in entry["arguments"].items()
        if not all(_stated(item, request) or not _stated(item, entry["in_words"]) for item in _items(value))
    ]
    unclear += [f"{match!r} could mean several things" for match in VAGUE.findall(request)]
    hinted = [
        f"it shares its words with the hidden {entry['tool']}"
        for entry in labelled_json(messages, "hidden")
        if set(stemmed_words(entry["tool"])) <= set(spoken)
    ]
    return json.dumps({"unambiguous": not unclear, "masked": not hinted, "objections": unclear + hinted})


def _items(value: object) -> Iterable[object]:
    if value is None or isinstance(value, bool):
        return ()
    return value if isinstance(value, list) else (value,)  # pyright: ignore[reportUnknownVariableType]


def _stated(value: object, request: str) -> bool:
    forms = {str(value), f"{value:.2f}"} if isinstance(value, int | float) else {str(value)}
    return any(form.lower() in request.lower() for form in forms)
