"""Scripted role agents: legal terms are found by word lists.

The most frequent name is taken for the controller, which is often right but has no legal basis.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json, system_text

_TERMS: Mapping[str, str] = {
    "Supervisory Authority": r"\b(?:Information )?Commissioner\b",
    "Special Category Data": r"\b(?:special category data|health (?:data|information)|ethnicity)\b",
    "Personal Data": r"\b(?:personal (?:data|details|information)|contact details|email addresses|(?:\w+ )?records)\b",
    "Filing System": r"\b(?:(?:Excel )?spreadsheet|database|suppression list|register)\b",
    "Data Subject": r"\b(?:data subjects|customers|subscribers|individuals|employees|patients|members)\b",
}
_VERBS = (
    r"sent|provided|advised|confirmed|obtained|operates?|used|uses|disclosed|issued|transmitted|received|kept|lost|told"
)
_TARGET = r"(?!that\b)(?P<target>(?:a |an |the )?[\w’-]+(?: [\w’-]+){0,3})"


def shown_paragraphs(messages: Sequence[LLMMessage]) -> list[dict[str, str]]:
    """The paragraphs of a prompt; its text as one paragraph without number if it shows no others."""
    text = re.search(r"```text\n(.*?)\n```", system_text(messages), re.DOTALL)
    return [{"paragraph": "", "text": text[1]}] if text else labelled_json(messages, "paragraphs")


def apply_terms(messages: Sequence[LLMMessage]) -> str:
    return json.dumps(_terms_of(shown_paragraphs(messages)))


def _terms_of(paragraphs: Sequence[dict[str, str]]) -> dict[str, list[Any]]:
    party = main_name([paragraph["text"] for paragraph in paragraphs])
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, str]] = []
    for paragraph in paragraphs:
        ref, text = paragraph["paragraph"], paragraph["text"]
        found = {match[0]: term for term, pattern in _TERMS.items() for match in re.finditer(pattern, text)}
        if party and re.search(rf"\b{re.escape(party)}\b", text):
            found[party] = "Controller"
            relations += _relations(ref, text, party)
        entities += [
            {
                "paragraph": ref,
                "entity_or_concept": name,
                "legal_alignment": term,
                "legal_source": None,
                "rationale": "named most" if name == party else "a word of the list for it",
            }
            for name, term in found.items()
        ]
    return {"entities_and_concepts": entities, "relations": relations}


def _relations(ref: str, text: str, party: str) -> list[dict[str, str]]:
    pattern = rf"\b{re.escape(party)} (?:also )?(?P<verb>{_VERBS}) {_TARGET}"
    return [
        {
            "paragraph": ref,
            "source": party,
            "relation": match["verb"],
            "target": match["target"],
            "rationale": "subject, verb and object of a sentence",
        }
        for match in re.finditer(pattern, text)
    ]


def infer_alignments(messages: Sequence[LLMMessage]) -> str:
    known = _known_entries(messages)
    stated = {entry["entity_or_concept"].casefold() for entry in known if "entity_or_concept" in entry}
    inferred: list[dict[str, Any]] = []
    for entry in known:
        target = entry.get("target", "")
        if re.search(r"\b(?:data|details|information|messages|records)\b", target) and target.casefold() not in stated:
            stated.add(target.casefold())
            inferred.append(
                {
                    "rests_on": [entry["ref"]] if "ref" in entry else [],
                    "entity_or_concept": target,
                    "legal_alignment": "Personal Data",
                    "legal_source": None,
                    "rationale": "what a controller handles, by its name",
                }
            )
    return json.dumps({"inferred_alignments": inferred})


def _known_entries(messages: Sequence[LLMMessage]) -> list[dict[str, str]]:
    """The entries that a prompt shows; those of its text if it shows none."""
    if "```json known" in system_text(messages):
        return labelled_json(messages, "known")
    found = _terms_of(shown_paragraphs(messages))
    return [*found["entities_and_concepts"], *found["relations"]]


_COMMON = frozenset(
    re.findall(
        r"\w+",
        "Article Articles Regulation Regulations Section Commissioner Information The In It On This That These A An If "
        "For From During Further Following However As At By He She They Data Protection Act UK GDPR DPA PECR January "
        "February March April May June July August September October November December Did Does Was Is Were Which What "
        "According Given When Who How Has Have Can Should Could Under Regarding ICO Yes No Controller Processor "
        "Personal Subject Supervisory Authority Special Category Filing System Text",
    )
)
_NAME = re.compile(r"\b[A-Z][\w’-]*(?: [A-Z][\w’-]*)*")


def main_name(texts: Iterable[str]) -> str | None:
    """The most frequent name; among equals the longest, then the first in alphabetical order. None without a name."""
    found = Counter[str]()
    for text in texts:
        for match in _NAME.finditer(text):
            words = [re.sub(r"[’']s$", "", word) for word in match[0].split()]
            while words and words[0] in _COMMON:
                words.pop(0)
            while words and words[-1] in _COMMON:
                words.pop()
            name = " ".join(words)
            if len(name) > 2:
                found[name] += 1
    return max(sorted(found), key=lambda name: (found[name], len(name)), default=None)
