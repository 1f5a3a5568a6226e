"""The instruction generator without a model: the plan's own words, set as a goal or as numbered steps."""

import json
from collections.abc import Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.offline.messages import labelled_json, system_text


def write_request(messages: Sequence[LLMMessage]) -> str:
    plan = labelled_json(messages, "plan")
    words = [entry["in_words"] for entry in plan]
    if "**goal** style" in system_text(messages):
        text = "In the end I want the following to be done:\n" + "\n".join(f"- {outcome}" for outcome in words)
    else:
        text = "Please do the following:\n" + "\n".join(f"{number}. {step}" for number, step in enumerate(words, 1))
    return json.dumps({"text": text})
