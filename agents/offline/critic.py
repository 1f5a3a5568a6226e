"""The LTL critic without a model: what code has proved against the rules, and quotes that are not in the provision."""

import json
from collections.abc import Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.offline.messages import labelled_json, last_said


def criticise_rules(messages: Sequence[LLMMessage]) -> str:
    texts = {provision["citation"]: provision["text"] for provision in labelled_json(messages, "provisions")}
    objections: list[dict[str, str | None]] = []
    candidates = json.loads(last_said(messages))
    objections += candidates["findings"]
    for rule in candidates["proposal"]["rules"]:
        if rule["quote"] and rule["quote"] not in texts.get(rule["citation"], ""):
            objections.append({"rule": rule["id"], "because": "the words quoted are not in the provision cited"})
    return json.dumps({"objections": objections})
