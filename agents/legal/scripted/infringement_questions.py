"""Scripted question writer: asks whether the party infringed the provisions that the findings name.

It writes only questions whose answer a sentence of the findings states. Every second one is negated (*Is it false that
...?*), so that not all answers are Yes. Other questions need a model in the role ``question_writer``.
"""

import json
import re
import zlib
from collections.abc import Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.legal.question_checks import named_provisions
from lawtrace.agents.legal.scripted.term_matcher import main_name, shown_paragraphs

_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
_LAW = re.compile(r"\b(?:of (?:the )?)?(?:UK )?(?:GDPR|PECR|DPA)\b")
_INFRINGED = re.compile(
    r"\b(?:contravened|infringed|breached|in breach of|in contravention of|(?:failed|failure) to comply with)\b"
)
_NEGATED = re.compile(r"\b(?:not|no|neither|nor|whether|if|may|might|alleged\w*|denie\w+)\b", re.IGNORECASE)
_END = re.compile(
    r"[.;]|\b(?:because|by|in that|for (?:the )?reasons|when|after|since|as (?:set out|explained|required))\b"
)


def write_questions(messages: Sequence[LLMMessage]) -> str:
    paragraphs = shown_paragraphs(messages)
    text = " ".join(paragraph["text"] for paragraph in paragraphs)
    party = main_name([text])
    if party is None:
        return json.dumps({"questions": []})
    party = f"the {party}" if f"the {party}" in text else party
    sources: dict[str, str] = {}
    for paragraph in paragraphs:
        for sentence in _SENTENCE.split(paragraph["text"]):
            for provision in _infringed_provisions(sentence, party):
                sources.setdefault(provision, paragraph["paragraph"])
    questions = [_question(party, provision, ref) for provision, ref in sources.items()]
    return json.dumps({"questions": questions}, ensure_ascii=False)


def _infringed_provisions(sentence: str, party: str) -> list[str]:
    """The provisions that the sentence says the party infringed; none if the sentence is negated or conditional."""
    found = _INFRINGED.search(sentence)
    if found is None or party not in sentence[: found.start()] or _NEGATED.search(sentence):
        return []
    clause = _END.split(sentence[found.end() :], maxsplit=1)[0]
    law = _LAW.search(clause)
    return [f"{name} {law[0]}" if law else name for name in named_provisions(clause)]


def _question(party: str, provision: str, ref: str) -> dict[str, object]:
    negated = zlib.crc32(provision.encode()) % 2 == 1
    asked = f"Is it false that {party} infringed {provision}?" if negated else f"Did {party} infringe {provision}?"
    return {
        "paragraphs": [ref] if ref else [],
        "whether_contains_decision": True,
        "question": asked,
        "options": {"Yes": "Yes", "No": "No"},
        "correct_answer": "No" if negated else "Yes",
    }
