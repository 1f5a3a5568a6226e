"""Scripted section mapper: the words of headings and of paragraphs weigh for parts, and the best sequence is chosen.

Each paragraph has a weight for each part, most of it from its outermost telling heading. A change of part is cheap at
a heading and dear within a section; going back in the usual order costs more. The result is the sequence of parts with
the greatest total (Viterbi).
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json, system_text
from lawtrace.environments.legal.document_checks import states_finding
from lawtrace.environments.legal.document_parts import PART_ORDER

_HEADING_WEIGHT = 2.0
_MOST_TEXT_WEIGHT = 2.0
_AT_TOP, _AT_HEADING, _WITHIN, _UNTOLD, _BACK = 0.5, 2.0, 8.0, 2.0, 20.0
"""Costs of a change of part: below another outermost heading, another heading, no other, no other and the heading above
tells nothing; and of going back."""

_OUTCOME = frozenset({"decision", "penalty"})
_EARLY, _BACK_EARLY = 0.25, 2.0
"""Some authorities begin with the decision: going back from it costs less in the first quarter."""

_ISSUED = re.compile(r"\bdecided to issue\b[^.]{0,80}\b(?:reprimand|penalty|notice)\b", re.IGNORECASE)
_STATED = 10.0
"""Weight of a sentence that states a finding."""

_PROVISION = re.compile(r"\b(?:articles?|sections?|regulations?|recitals?|schedule|chapter|part) \(?\d", re.IGNORECASE)
_HEADINGS: Mapping[str, Mapping[float, str]] = {
    "annex": {4: r"\b(?:annex|appendix)\b|^schedule \w+$"},
    "introduction": {
        3: r"\bintroduct\w+|\bsummary of (?:the )?(?:decision|notice|findings)|\bsummary$|\boverview\b",
        2.5: r"^(?:the )?(?:parties|procedur\w+|procedural (?:history|background))$",
    },
    "rules": {
        3: (
            r"\b(?:legal|regulatory|statutory|legislative) (?:framework|background|provisions|context|basis)\b"
            r"|\blegislation\b|\b(?:applicable|relevant|governing) (?:law|legislation|provisions|statut\w+)"
            r"|^the law\b|^law$|\bstatutory\b|\blegal requirements\b|\bobligations? of\b|\bpowers?\b"
            r"|\b(?:applicable|relevant|legal) provisions\b|\blegal bas[ei]s? for (?:the|this) (?:inquiry|decision)\b"
        ),
        2: r"^(?:the )?(?:relevant |statutory )?guidance$|^the (?:uk )?(?:gdpr|dpa|pecr|act)$",
    },
    "facts": {
        4: r"\bfindings? of facts?\b",
        3: (
            r"\bbackground\b|\bfacts?\b|\bfactual\b|\bchronolog\w+|\bwhat happened\b|\btimeline\b"
            r"|\b(?:business|data security) practices\b|\breport on the (?:supervisory|inspection)|\bhas stated\b"
        ),
        2: (
            r"\bcircumstances\b|\binvestigation\b|\bthe (?:incident|attack|breach|event)s?$|\bevents\b"
            r"|\bthe complaints?$|\bevidence\b|\bcame to light\b|\bdetails of the (?:incident|breach)|\bdiscovery\b"
            r"|\breporting\b|\bcommunications?\b"
        ),
        1.5: r"\bnature of (?:the )?(?:personal data|data)\b|\bpersonal data involved\b",
    },
    "application": {
        3: r"\bnature of (?:the )?entit\w+|\bcontrollership\b|\bjurisdiction\b|\blegal nature\b",
        2: r"\bnature of (?:the )?(?:personal data|processing|data)\b|\b(?:controllers?|processors?)$",
    },
    "findings": {
        4: (
            r"\breasons? for (?:the |this |our )?(?:decision|determination)\b|\b(?:statement of )?reasons$"
            r"|\breasoning\b"
        ),
        3: (
            r"\bmotivation\b|\b(?:legal (?:bases|grounds)|(?:grounds|foundations) of law)\b|\bviolated the law\b"
            r"|\b(?:infringe\w*|contraven\w+|breaches|findings?(?! of facts?\b)|non-?compliance|failings|violations?)\b"
            r"|^(?:count|charge|issue|question|allegation) (?:\w{1,5}|one|two|three)\b|^issues?\b|\bfindings and\b"
        ),
        2.5: (
            r"^(?:did|does|is|are|was|were|has|have|whether)\b.*|\bbasis for (?:the )?(?:cmp|penalty|finding)"
            r"|\bbreach of\b|\bfailures?\b|\bassessment\b|\banalysis\b|\breasons? for (?:the )?finding"
        ),
        2: (
            r"\black of\b|^not \w+ing\b|\bfailed to\b|\bin(?:appropriate|adequate)|\bcompliance with\b|\bserious\w*\b"
            r"|\bdeliberate\b|\bnegligent\b|\bconsideration\b|\bissues?\b|\b’s view\b"
        ),
        1.5: r"^(?:uk gdpr |gdpr )?(?:article|regulation|principle) \d[\d()a-z. ]*(?:(?:of the )?(?:uk )?gdpr)?$",
    },
    "decision": {
        4: r"^for these reasons\b|\boperative part\b|\bright to a hearing\b|\bhow to appeal\b|\bdecision to issue\b",
        3: (
            r"\bdecision\b|\bconclusions?\b|\brights? of appeal\b|\bappeals?\b|\bnext steps\b"
            r"|\b(?:legal|judicial) remed(?:y|ies)\b|\bdisposition\b|^(?:the )?determination$|^(?:the )?decision of\b"
            r"|\bit is ordered\b|\bresolves?\b|\brelief\b|^orders?$|\bpublication of\b|\breview rights?\b"
            r"|\bmiscellaneous\b"
        ),
        2.5: r"\bfurther action\b|\brecommend\w+|\bsteps? (?:required|to be taken)\b|\bterms of\b|\border\b",
        2: r"\benforce\w*",
    },
    "penalty": {
        4: r"\bcorrective (?:powers?|measures?|action)\b|\b(?:choice of|imposition of) (?:a )?\w+|\bsanctions?\b",
        3.5: (
            r"\b(?:intentional|negligent) (?:or|and) (?:intentional|negligent)\b|\bnature, gravity\b|\bdeterren\w+"
            r"|\bdegree of (?:responsibility|co-?operation)|\bprevious infringements?\b|\bability to pay\b"
            r"|\bcategories of (?:personal )?data affected|\bbecame known\b|\badherence to\b|\baction taken by\b"
            r"|\bcharacter of the (?:infringement|contravention|failure)|\barticle 83\b|\bfactors relevant\b"
        ),
        3: (
            r"\bpenalt(?:y|ies)\b|\bfin(?:e|es|ing)\b|\bamount\b|\bcalculat\w+|\bpayment\b|\bpaid\b|\bdirections$"
            r"|\bremedies\b|\bfactors considered\b"
        ),
        2.5: r"\baggravating\b|\bmitigat\w+|\bremedial\b|\bfinancial (?:hardship|position)\b|\bstep \d\b",
    },
}
HEADING_PATTERNS = [
    (part, weight, re.compile(words, re.IGNORECASE))
    for part, weights in _HEADINGS.items()
    for weight, words in weights.items()
]
_LABEL = re.compile(
    r"^\(\w{1,3}[)l]\s+|^(?:[IVX]{1,6}|[A-Z]|\d{1,2}(?:\.\d{1,2})*)[.)]\s+|^(?:part|section|chapter) \w+[:.]?\s+", re.I
)

_TEXTS: Mapping[str, re.Pattern[str]] = {
    "introduction": re.compile(
        r"\bthis (?:notice|reprimand)\b|\bissues? (?:a|this) (?:reprimand|penalty)\b"
        r"|\breasons for\b[^.]*\bset out below\b",
        re.I,
    ),
    "rules": re.compile(
        r"\b(?:article|section|regulation|recital|schedule)\b[^.]{0,60}?"
        r"\b(?:states|provides?|defines?|requires?|sets? out)\b"
        r"|\b(?:is|are) defined\b|\bstates[:,]|\bprovides?(?: that|:| as follows)",
        re.I,
    ),
    "facts": re.compile(
        r"\bon \d{1,2} \w+ (?:19|20)\d\d\b|\b(?:in|since|until) (?:\w+ )?(?:19|20)\d\d\b|\bprovided to\b"
        r"|\bconfirmed\b|\badvised\b|\bresponded\b|\binformed\b|\bexplained that\b|\bstated that\b",
        re.I,
    ),
    "findings": re.compile(
        r"\b(?:infring\w+|contraven\w+|failed to|failures?|lack of|satisfied that|finds that|ought to|should have)\b"
        r"|\b(?:cause of|concerns?|considered that|would (?:not )?have|(?:would|could) be expected|inadequate)\b",
        re.I,
    ),
    "decision": re.compile(r"\b(?:has decided|appeal|must be paid|recommends?)\b", re.I),
    "penalty": re.compile(r"\b(?:aggravating|mitigating|remedial|amount of the penalty|dissuasive)\b|£\s?\d", re.I),
}


def map_parts(messages: Sequence[LLMMessage]) -> str:
    paragraphs: list[dict[str, str]] = labelled_json(messages, "paragraphs")
    paths = [paragraph["heading"].split(" > ") for paragraph in paragraphs]
    weights = [
        _weigh(paragraph["paragraph"], paragraph["begins"], path)
        for paragraph, path in zip(paragraphs, paths, strict=True)
    ]
    goes_on = "```json before" in system_text(messages)
    before: list[dict[str, str]] = labelled_json(messages, "before") if goes_on else []
    if not before:
        weights[0]["introduction"] += 2
    changes = [_change_cost(above, path) for above, path in pairwise(paths)]
    parts = _best_sequence(weights, changes, before[-1]["part"] if before else "")
    ranges: list[dict[str, str]] = []
    for paragraph, part in zip(paragraphs, parts, strict=True):
        if ranges and ranges[-1]["part"] == part:
            ranges[-1]["last"] = paragraph["paragraph"]
        else:
            because = f"heading {paragraph['heading']!r}" if paragraph["heading"] else "no heading"
            first = paragraph["paragraph"]
            ranges.append({"first": first, "last": first, "part": part, "because": because})
    return json.dumps({"parts": ranges})


def heading_weights(heading: str) -> dict[str, float]:
    """The weight that the words of a heading have for each part; the word that comes first counts most."""
    text = _LABEL.sub("", heading.strip())
    if (after := text.rpartition(": ")[2]) != text and (told := heading_weights(after)):
        return told
    found = [(match.start(), weight, part) for part, weight, words in HEADING_PATTERNS if (match := words.search(text))]
    totals: dict[str, float] = {}
    for rank, (_, weight, part) in enumerate(sorted(found)):
        totals[part] = max(totals.get(part, 0.0), weight if rank == 0 else 0.6 * weight)
    return totals


def _weigh(ref: str, begins: str, path: Sequence[str]) -> dict[str, float]:
    weights = dict.fromkeys(PART_ORDER, 0.0)
    if "/" in ref:  # paragraph numbers in an annex begin with the annex
        weights["annex"] += 50
    telling = [one for one in map(heading_weights, path) if one]
    if telling:
        for part, weight in telling[0].items():
            weights[part] += _HEADING_WEIGHT * weight
        for part, weight in telling[-1].items() if len(telling) > 1 else ():
            weights[part] += weight / 3
    elif not any(path):
        weights["introduction"] += 3
    for part, pattern in _TEXTS.items():
        weights[part] += min(_MOST_TEXT_WEIGHT, len(pattern.findall(begins)))
    if _ISSUED.search(begins):
        weights["introduction"] += 4
    if states_finding(begins, law=True):
        weights["findings"] += _STATED
    if _PROVISION.search(begins):
        weights["rules"] += 2
    weights["facts"] += 0.5  # facts are the default
    return weights


def _change_cost(before: Sequence[str], path: Sequence[str]) -> float:
    if before[:1] != path[:1]:
        return _AT_TOP
    if before != path:
        return _AT_HEADING
    return _WITHIN if any(heading_weights(heading) for heading in path) else _UNTOLD


def _best_sequence(weights: Sequence[Mapping[str, float]], changes: Sequence[float], first: str) -> list[str]:
    """The part of each paragraph; ``changes``: the cost of a change of part after each paragraph but the last;
    ``first``: the part of the paragraph before the first one, or empty."""
    parts = [*PART_ORDER]
    scores = {
        part: weights[0][part] - (_step_cost(first, part, _AT_TOP, _BACK) if first else 0.5 * PART_ORDER[part])
        for part in parts
    }
    steps: list[dict[str, str]] = []
    for place, (weight, change) in enumerate(zip(weights[1:], changes, strict=True)):
        back = _BACK_EARLY if place < _EARLY * len(weights) and not first else _BACK
        chosen: dict[str, str] = {}
        reached: dict[str, float] = {}
        for part in parts:
            totals = {before: scores[before] - _step_cost(before, part, change, back) for before in parts}
            chosen[part] = max(parts, key=totals.__getitem__)
            reached[part] = totals[chosen[part]] + weight[part]
        scores = reached
        steps.append(chosen)
    part = max(parts, key=scores.__getitem__)
    found = [part]
    for chosen in reversed(steps):
        part = chosen[part]
        found.append(part)
    return found[::-1]


def _step_cost(before: str, part: str, change: float, back: float) -> float:
    if part == before:
        return 0.0
    if before not in _OUTCOME:
        back = _BACK
    return change + (back if PART_ORDER[part] < PART_ORDER[before] else 0.0)
