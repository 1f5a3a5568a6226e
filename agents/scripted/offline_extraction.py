"""Rule extraction without a model: deontic sentence patterns, and BM25 retrieval over the tool documentation.

A provision without a known pattern is reported as not checkable, which is often wrong; one that shares no word with a
tool's documentation is out of scope. This is the baseline for a model's extraction, and reports label it so.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.deontic_patterns import clauses_of, obliges
from lawtrace.agents.scripted.prompt_blocks import labelled_json, last_user_message
from lawtrace.agents.scripted.stemming import stemmed_words

_NAME_WEIGHT = 3
"""Words of a tool's name count as often as this many in its summary."""

_SAME: Mapping[str, str] = {
    # stems as `words_of` returns them
    **dict.fromkeys(("authentic", "authenticat", "verify", "verif", "identify", "authoris"), "authoriz"),
    **dict.fromkeys(("log", "document", "audit", "evidenc"), "record"),
    **dict.fromkeys(("remittanc", "remit"), "transfer"),
}


class ToolIndex:
    """A search index over the documentation of tools."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        import bm25s  # pyright: ignore[reportMissingTypeStubs] -- it loads scipy, which takes half a second

        self._names = [str(tool["name"]) for tool in tools]
        texts = [_tokens(str(tool["name"])) * _NAME_WEIGHT + _tokens(str(tool["summary"])) for tool in tools]
        self._places = {word: place for place, word in enumerate(dict.fromkeys(w for words in texts for w in words))}
        self._index: Any = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        numbered = [[self._places[word] for word in words] for words in texts]
        self._index.index((numbered, self._places), create_empty_token=False, show_progress=False)

    def ranked(self, text: str) -> list[tuple[float, str]]:
        """The tools that share a word with the text, best first, ties by name."""
        known = [word for word in _tokens(text) if word in self._places]
        if not known:
            return []
        scores = [float(score) for score in self._index.get_scores(known)]
        found = [(score, name) for score, name in zip(scores, self._names, strict=True) if score > 0]
        return sorted(found, key=lambda scored: (-scored[0], scored[1]))

    def best(self, text: str) -> list[str]:
        return [name for _, name in self.ranked(text)]


def _tokens(text: str) -> list[str]:
    return [_SAME.get(word, word) for word in stemmed_words(re.sub(r"[^\w\s]", " ", text))]


Tools = Mapping[str, Mapping[str, Any]]


def align_scope(messages: Sequence[LLMMessage]) -> str:
    """A provision is in scope if it contains an obligation and shares words with a tool."""
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


def propose_offline_rules(messages: Sequence[LLMMessage]) -> str:
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
    return json.dumps({"rules": _with_unique_ids(list(reversed(distinct.values())))})


def _with_unique_ids(rules: list[dict[str, str]]) -> list[dict[str, str]]:
    """Rules with unique ids."""
    seen: dict[str, int] = {}
    for rule in rules:
        seen[rule["id"]] = seen.get(rule["id"], 0) + 1
        if seen[rule["id"]] > 1:
            rule["id"] = f"{rule['id']}-{seen[rule['id']]}"
    return rules


def _alternatives(phrase: str, index: ToolIndex) -> list[str]:
    parts = re.split(r"(?:, (?:or |and )?| (?:or|and) )(?:every )?", phrase)
    return list(dict.fromkeys(tool for part in parts for tool in index.best(part)[:1]))


def criticise_rules(messages: Sequence[LLMMessage]) -> str:
    texts = {provision["citation"]: provision["text"] for provision in labelled_json(messages, "provisions")}
    objections: list[dict[str, str | None]] = []
    candidates = json.loads(last_user_message(messages))
    objections += candidates["findings"]
    for rule in candidates["proposal"]["rules"]:
        if rule["quote"] and rule["quote"] not in texts.get(rule["citation"], ""):
            objections.append({"rule": rule["id"], "because": "the words quoted are not in the provision cited"})
    return json.dumps({"objections": objections})
