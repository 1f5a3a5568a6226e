"""The question writer without a model: sentences that find something, turned into questions by pattern.

Half of what somebody *failed to* do is asked the other way round, so that the answers are not all Yes.
"""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from agents.offline.messages import labelled_json

__all__ = ["write_questions"]

_MOST_WORDS = 10
_WHO = r"(?P<who>(?:the |The )?[A-Z][\w’-]+(?: [A-Z][\w’-]+){0,3})"
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
_BREAK = re.compile(r"[,;:.](?!\d)|[(“]| which | who | where | and | as | when | that ")
_PROVISION = re.compile(r"\b(?:Article|Regulation|regulation|section|Section) \d+[A-Z]?(?:\(\w+\))*")
_NOT_A_NAME = re.compile(
    r"^(?:the )?(?:It|He|She|They|This|That|There|Commissioner|These|Those|Further|Article|Error)\b", re.I
)
_AUXILIARY = r"(?:contravened|infringed|breached)"

_PATTERNS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(_WHO + rf" {_AUXILIARY} (?P<rest>(?:the )?(?:[Rr]egulation|[Aa]rticle|[Ss]ection)s? .+)"),
        "Did {who} infringe {rest}?",
        "Yes",
    ),
    (re.compile(_WHO + r" (?:has )?failed to (?P<rest>.+)"), "Did {who} fail to {rest}?", "Yes"),
    (re.compile(_WHO + r" (?:therefore )?did not (?P<rest>(?!consider|therefore).+)"), "Did {who} {rest}?", "No"),
    (
        re.compile(r"Commissioner (?:is|was) (?:further |therefore )?(?:satisfied|assured) that (?P<rest>.+)"),
        "Was the Commissioner satisfied that {rest}?",
        "Yes",
    ),
    (
        re.compile(r"Commissioner does not consider that (?P<rest>.+)"),
        "Did the Commissioner consider that {rest}?",
        "No",
    ),
    (re.compile(r"(?P<who>this case|the case) has shown (?P<rest>.+)"), "Did {who} show {rest}?", "Yes"),
    (re.compile(r"the cause of the breach was (?P<rest>.+)"), "Was the cause of the breach {rest}?", "Yes"),
)
_FLIPPED = {"Did {who} fail to {rest}?": ("Did {who} {rest}?", "No")}


def write_questions(messages: Sequence[LLMMessage]) -> str:
    paragraphs: list[dict[str, str]] = labelled_json(messages, "paragraphs")
    provisions = list(dict.fromkeys(match for p in paragraphs for match in _PROVISION.findall(p["text"])))
    questions: list[Mapping[str, Any]] = []
    for paragraph in paragraphs:
        for sentence in _SENTENCE.split(paragraph["text"]):
            questions.extend(_questions(paragraph["paragraph"], sentence, provisions))
    return json.dumps({"questions": questions})


def _questions(ref: str, sentence: str, provisions: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for pattern, form, answer in _PATTERNS:
        found = pattern.search(sentence)
        if found is None:
            continue
        said = found.groupdict()
        rest = _beginning(said["rest"])
        who = re.sub(r"^The ", "the ", said.get("who") or "")
        if not rest or _NOT_A_NAME.match(who):
            continue
        if form in _FLIPPED and zlib.crc32(sentence.encode()) % 2:
            form, answer = _FLIPPED[form]
        yield _question(ref, form.format(who=who, rest=rest), {"Yes": "Yes", "No": "No"}, answer)
        cited = _PROVISION.match(rest)
        others = [provision for provision in provisions if cited and provision != cited[0]]
        if "infringe" in form and cited and len(others) >= 3:
            yield _provision_question(ref, who, cited[0], others)
        return


def _provision_question(ref: str, who: str, cited: str, others: Sequence[str]) -> Mapping[str, Any]:
    place = zlib.crc32(f"{ref}{who}".encode()) % 4
    choices = [*others[:3]]
    choices.insert(place, cited)
    return _question(
        ref, f"Which provision did {who} infringe?", dict(zip("ABCD", choices, strict=True)), "ABCD"[place]
    )


def _question(ref: str, text: str, options: Mapping[str, str], answer: str) -> Mapping[str, Any]:
    return {
        "paragraphs": [ref],
        "whether_contains_decision": "Commissioner" not in text or "satisfied" in text,
        "question": text,
        "options": options,
        "correct_answer": answer,
    }


def _beginning(text: str) -> str:
    """The phrase up to its first natural end, short enough to be no quote; empty if it has none."""
    words = _BREAK.split(text, maxsplit=1)[0].split()
    while len(words) > _MOST_WORDS:
        cut = max(
            (
                i
                for i, word in enumerate(words[:_MOST_WORDS])
                if word in {"in", "at", "for", "by", "under", "within", "from"}
            ),
            default=0,
        )
        if cut < 2:
            return ""
        words = words[:cut]
    return " ".join(words) if len(words) > 1 else ""
