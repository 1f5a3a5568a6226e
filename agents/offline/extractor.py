"""The policy extractor without a model: sentences that oblige, and retrieval over the tools' documentation.

Two patterns are known: *X must come before Y* and *every Y must afterwards be ...*. Everything else is reported as not
checkable, which is often wrong: this is the baseline that a model's extraction has to beat.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from agents.offline.messages import labelled_json
from agents.offline.words import rank_tools

__all__ = ["extract_rules"]

BEFORE = re.compile(r"(?P<check>[^.:\[\]]+?) must (?:come|happen|be made|have \w+) before (?P<action>[^.\[\]]+)")
AFTERWARDS = re.compile(r"every (?P<trigger>[^.\[\]]+?) must afterwards (?P<outcome>be [^.\[\]]+)", re.I)


def extract_rules(messages: Sequence[LLMMessage]) -> str:
    tools = {tool["name"]: tool for tool in labelled_json(messages, "documentation")["tools"]}
    rules: list[dict[str, str]] = []
    not_checkable: list[dict[str, str]] = []
    for provision in labelled_json(messages, "provisions"):
        found = _rules_of(provision["citation"], provision["text"], tools)
        rules += found
        if not found:
            because = "no sentence in it obliges in a pattern that the offline extractor knows"
            not_checkable.append({"citation": provision["citation"], "because": because})
    return json.dumps({"rules": rules, "not_checkable": not_checkable})


def _rules_of(citation: str, text: str, tools: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    rules: list[dict[str, str]] = []
    for match in BEFORE.finditer(text):
        check = _tool(match["check"], tools)
        rules += [
            _rule(citation, f"{check}-before-{action}", f"!((!{check}) U {action})", match[0])
            for action in _tools(match["action"], tools)
            if check and action != check
        ]
    for match in AFTERWARDS.finditer(text):
        outcome = _tool(match["outcome"], tools)
        rules += [
            _rule(citation, f"{outcome}-after-{trigger}", f"G({trigger} -> F {outcome})", match[0])
            for trigger in _tools(match["trigger"], tools)
            if outcome and trigger != outcome
        ]
    return rules


def _rule(citation: str, id: str, formula: str, quote: str) -> dict[str, str]:  # noqa: A002 (the field's name)
    return {
        "id": id.lower(),
        "formula": formula,
        "citation": citation,
        "quote": quote.strip(),
        "rationale": "The sentence obliges in a known pattern; the tools are those whose documentation matches best.",
    }


def _tools(phrase: str, tools: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The best tool for each alternative of the phrase (*a transfer of funds or the payment of a bill*)."""
    parts = re.split(r"(?:, (?:or |and )?| (?:or|and) )(?:every )?", phrase)
    found = [tool for part in parts if (tool := _tool(part, tools))]
    return list(dict.fromkeys(found))


def _tool(phrase: str, tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    ranked = rank_tools(phrase, tools)
    return ranked[0][1] if ranked else None
