"""Rule extraction without a model: it proposes only what the words of a sentence justify (`justification`).

Everything else is *not understood*, with the reason. This is the baseline for a model's extraction; reports say so.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.deontic_patterns import Duty, NotUnderstood, duties_of, obliges, sentences_of, text_of
from lawtrace.agents.scripted.justification import JustifiedRule, Understood, find_objection, justify, understand
from lawtrace.agents.scripted.prompt_blocks import labelled_json, last_user_message
from lawtrace.agents.scripted.tool_phrases import ToolLexicon

_NO_DUTY = "the words quoted are not a sentence with a duty"


def align_scope(messages: Sequence[LLMMessage]) -> str:
    """A provision is in scope if a sentence of it contains a duty and what a tool is named for."""
    lexicon = ToolLexicon(_tools(messages))
    decisions: list[dict[str, str | bool]] = []
    for provision in labelled_json(messages, "provisions"):
        obliging = [sentence for sentence in sentences_of(provision["text"]) if obliges(sentence)]
        nearest = next(filter(None, map(lexicon.nearest, obliging)), None)
        if not obliging:
            concerns, because = False, "nothing in it obliges to do anything, in words such as 'must' or 'may not'"
        elif nearest is None:
            concerns, because = False, "no sentence with a duty says what a tool is named for"
        else:
            concerns, because = True, f"it obliges, and is nearest to {nearest}"
        decisions.append({"citation": provision["citation"], "concerns": concerns, "because": because})
    return json.dumps({"decisions": decisions})


def refine_provisions(messages: Sequence[LLMMessage]) -> str:
    """The duties of each provision; the mapper finds their tools."""
    obligations: list[dict[str, str]] = []
    not_understood: list[dict[str, str]] = []
    for provision in labelled_json(messages, "provisions"):
        for duty in duties_of(provision["text"]):
            if isinstance(duty, NotUnderstood):
                not_understood.append({"citation": provision["citation"], "because": duty.because})
            else:
                obligations.append({"citation": provision["citation"], **_obligation(duty)})
    answered = {one["citation"] for one in (*obligations, *not_understood)}
    not_understood += [
        {"citation": provision["citation"], "because": "no sentence of it says a duty in words such as 'must'"}
        for provision in labelled_json(messages, "provisions")
        if provision["citation"] not in answered
    ]
    return json.dumps({"obligations": obligations, "not_understood": not_understood})


def _obligation(duty: Duty) -> dict[str, str]:
    first, second = text_of(duty.first), text_of(duty.second)
    match duty.kind:
        case "before":
            order, statement = "before", f"{first} must come before {second}"
        case "after":
            order, statement = "after", f"{first} must be followed by {second}"
        case "never":
            order, statement = "other", f"{first} must not happen"
        case "never after":
            order, statement = "other", f"{second} must not happen after {first}"
    return {"quote": duty.sentence, "statement": statement, "order": order, "first": first, "second": second}


def map_obligations(messages: Sequence[LLMMessage]) -> str:
    """The tools that the sentence of each obligation names."""
    tools = _tools(messages)
    mapped: list[dict[str, Any]] = []
    for obligation in labelled_json(messages, "obligations"):
        rules, reasons = _read(obligation["quote"], tools)
        mapped.append(
            {
                "obligation": obligation["obligation"],
                "first": _named(call.tool for rule in rules for call in rule.first),
                "second": _named(call.tool for rule in rules for call in rule.second),
                "because": "; ".join(dict.fromkeys(ground.because for rule in rules for ground in rule.grounds))
                or "; ".join(reasons),
                "not_understood": not rules,
            }
        )
    return json.dumps({"mapped": mapped})


def propose_offline_rules(messages: Sequence[LLMMessage]) -> str:
    """The rules that the sentences of the obligations justify."""
    tools = _tools(messages)
    texts = _texts(messages)
    rules: dict[tuple[str, str], dict[str, Any]] = {}
    not_understood: list[dict[str, str]] = []
    for obligation in labelled_json(messages, "obligations"):
        citation = obligation["citation"]
        read = [one for one in understand(texts.get(citation, ""), tools) if _about(obligation["quote"], one.sentence)]
        for one in read:
            if isinstance(one, NotUnderstood):
                not_understood.append({"citation": citation, "because": one.because})
                continue
            for rule in one.rules:
                rules.setdefault((rule.formula, citation), _proposed(rule, citation))
        if not read:
            not_understood.append({"citation": citation, "because": _NO_DUTY})
    return json.dumps({"rules": _with_unique_ids(list(rules.values())), "not_understood": not_understood})


def criticise_rules(messages: Sequence[LLMMessage]) -> str:
    """Objects to rules that a sentence of their provision does not justify, and to quotes that it does not contain."""
    texts, tools = _texts(messages), _tools(messages)
    candidates = json.loads(last_user_message(messages))
    objections: list[dict[str, str | None]] = list(candidates["findings"])
    for rule in candidates["proposal"]["rules"]:
        text = texts.get(rule["citation"], "")
        if rule["quote"] and rule["quote"] not in text:
            objections.append({"rule": rule["id"], "because": "the words quoted are not in the provision cited"})
        elif (because := find_objection(rule["formula"], text, tools)) is not None:
            objections.append({"rule": rule["id"], "because": because})
    return json.dumps({"objections": objections})


def _tools(messages: Sequence[LLMMessage]) -> Sequence[Mapping[str, Any]]:
    return labelled_json(messages, "documentation")["tools"]


def _texts(messages: Sequence[LLMMessage]) -> dict[str, str]:
    return {provision["citation"]: provision["text"] for provision in labelled_json(messages, "provisions")}


def _read(sentence: str, tools: Sequence[Mapping[str, Any]]) -> tuple[list[JustifiedRule], list[str]]:
    """The rules of the words of an obligation, and why there are none."""
    lexicon = ToolLexicon(tools)
    read = [justify(duty, lexicon) for duty in duties_of(sentence)]
    rules = [rule for one in read if isinstance(one, Understood) for rule in one.rules]
    reasons = [one.because for one in read if isinstance(one, NotUnderstood)]
    return rules, reasons or [_NO_DUTY]


def _about(quote: str, sentence: str) -> bool:
    """Whether the words quoted and the sentence are the same place of the provision."""
    plain, whole = (" ".join(text.split()).strip(" .;").casefold() for text in (quote, sentence))
    return bool(plain) and (plain in whole or whole in plain)


def _named(tools: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(tools))


def _proposed(rule: JustifiedRule, citation: str) -> dict[str, Any]:
    return {
        "id": rule.id,
        "formula": rule.formula,
        "citation": citation,
        "quote": rule.sentence,
        "rationale": "; ".join(f"{ground.part}: {ground.words!r}" for ground in rule.grounds) + ".",
        "grounds": [ground.model_dump() for ground in rule.grounds],
    }


def _with_unique_ids(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rules with unique ids."""
    seen: dict[str, int] = {}
    for rule in rules:
        seen[rule["id"]] = seen.get(rule["id"], 0) + 1
        if seen[rule["id"]] > 1:
            rule["id"] = f"{rule['id']}-{seen[rule['id']]}"
    return rules
