"""The four roles that draw rules from a regulation, without a model: deontic sentence patterns, and retrieval (BM25)
over the documentation of the tools.

What has none of the patterns is reported as not checkable, which is often wrong; what shares no word with a tool's
documentation is not seen. This is the baseline that a model's extraction has to beat, and reports call it that.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.offline.deontic import clauses_of, obliges
from lawtrace.agents.offline.messages import labelled_json
from lawtrace.agents.offline.tool_index import ToolIndex

Tools = Mapping[str, Mapping[str, Any]]


def align_scope(messages: Sequence[LLMMessage]) -> str:
    """A provision concerns the tools if something in it obliges and some of its words are those of a tool."""
    index = ToolIndex(labelled_json(messages, "documentation")["tools"])
    decisions: list[dict[str, str | bool]] = []
    for provision in labelled_json(messages, "provisions"):
        nearest = index.ranked(provision["text"])
        if not obliges(provision["text"]):
            concerns, because = False, "nothing in it obliges anybody to do anything"
        elif not nearest:
            concerns, because = False, "it shares no telling word with the documentation of any tool"
        elif not any(True for _ in clauses_of(provision["text"])):
            concerns, because = False, "it demands no order between two things that happen, in a pattern known offline"
        else:
            concerns, because = True, f"it obliges, and is nearest to {nearest[0][1]}"
        decisions.append({"citation": provision["citation"], "concerns": concerns, "because": because})
    return json.dumps({"decisions": decisions})


def refine_provisions(messages: Sequence[LLMMessage]) -> str:
    obligations: list[dict[str, str]] = []
    for provision in labelled_json(messages, "provisions"):
        for clause in clauses_of(provision["text"]):
            relation = "must come before" if clause.order == "before" else "must be followed by"
            obligations.append(
                {
                    "citation": provision["citation"],
                    "quote": clause.quote,
                    "statement": f"{clause.first} {relation} {clause.second}",
                    "order": clause.order,
                    "first": clause.first,
                    "second": clause.second,
                }
            )
    answered = {obligation["citation"] for obligation in obligations}
    not_checkable = [
        {"citation": provision["citation"], "because": "it demands no order in a pattern known offline"}
        for provision in labelled_json(messages, "provisions")
        if provision["citation"] not in answered
    ]
    return json.dumps({"obligations": obligations, "not_checkable": not_checkable})


def map_obligations(messages: Sequence[LLMMessage]) -> str:
    """The best tool for each alternative of each phrase (*a transfer of funds or the payment of a bill*)."""
    index = ToolIndex(labelled_json(messages, "documentation")["tools"])
    mapped: list[dict[str, Any]] = []
    for obligation in labelled_json(messages, "obligations"):
        one_sided = "first" if obligation["order"] == "before" else "second"
        sides = {
            side: index.best(obligation[side])[:1] if side == one_sided else _alternatives(obligation[side], index)
            for side in ("first", "second")
        }
        because = "the documentation that matches the words best"
        if not all(sides.values()):
            because = "no tool's documentation shares a telling word with one of its sides"
        mapped.append({"obligation": obligation["obligation"], **sides, "because": because})
    return json.dumps({"mapped": mapped})


def extract_rules(messages: Sequence[LLMMessage]) -> str:
    rules: list[dict[str, str]] = []
    for obligation in labelled_json(messages, "obligations"):
        for first in obligation["first_tools"]:
            for second in obligation["second_tools"]:
                if first == second:
                    continue
                before = obligation["order"] == "before"
                rules.append(
                    {
                        "id": (f"{first}-before-{second}" if before else f"{second}-after-{first}").lower(),
                        "formula": f"!((!{first}) U {second})" if before else f"G({first} -> F {second})",
                        "citation": obligation["citation"],
                        "quote": obligation["quote"],
                        "rationale": "The sentence obliges in a known pattern; the tools are those whose documentation "
                        "matches best.",
                    }
                )
    distinct = {(rule["formula"], rule["citation"]): rule for rule in reversed(rules)}
    return json.dumps({"rules": _told_apart(list(reversed(distinct.values())))})


def _told_apart(rules: list[dict[str, str]]) -> list[dict[str, str]]:
    """Each rule with an id of its own."""
    seen: dict[str, int] = {}
    for rule in rules:
        seen[rule["id"]] = seen.get(rule["id"], 0) + 1
        if seen[rule["id"]] > 1:
            rule["id"] = f"{rule['id']}-{seen[rule['id']]}"
    return rules


def _alternatives(phrase: str, index: ToolIndex) -> list[str]:
    parts = re.split(r"(?:, (?:or |and )?| (?:or|and) )(?:every )?", phrase)
    return list(dict.fromkeys(tool for part in parts for tool in index.best(part)[:1]))
