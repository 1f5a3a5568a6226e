"""How many sentences the offline extractor understands, and how many of its rules are wrong.

    python -m benchmarks.extraction [LAW=ENVIRONMENT ...]

- *Invented policies*: the sentences of `extraction_sentences.toml`, each with the formulas that it means. The second
  half was written after the patterns were frozen.
- *Mutants*: every sentence that is understood, of our restatements and manuals and of the policies, is changed
  in one place: the order word, the places of the two phrases, the negation, one word of a phrase. A mutant is wrong if
  a rule is proposed that is not what the changed sentence means; a foreign word must lead to no rule.
- *Published texts*: PSD2 for banking and the HIPAA Security Rule for telehealth, if the files are given. The rules are
  printed, to be read.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from lawtrace.agents.scripted.deontic_patterns import Tokens, obliges, sentences_of
from lawtrace.agents.scripted.justification import Understood, understand
from lawtrace.agents.scripted.tool_phrases import NamedCall
from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.regulations.documents import read_published_law
from lawtrace.environments.runtime.documentation import document
from lawtrace.solver.rule_transforms import same_rule
from lawtrace.solver.rules import Rule

SENTENCES = Path(__file__).parent / "extraction_sentences.toml"
Tools = Sequence[Mapping[str, Any]]
Result = Literal["right", "not understood", "wrong"]
_FOREIGN = "aquarium"
_SWAPPED = {
    "before": "after", "after": "before", "until": "after", "Once": "Before", "afterwards": "beforehand",
    "unless": "if", "only after": "only before", "Within": "At least", "within": "at least",
}  # fmt: skip
_STOP = re.compile(
    r"(?:an?|the|of|for|by|be|been|is|are|has|have|was|with|to|its?|every|each|any|in|made|not|or|and|from)$"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with what it means."""

    tools: str
    text: str
    formulas: tuple[str, ...]
    half: int


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed sentence. ``means``: the formulas that it may become, besides none."""

    kind: str
    tools: str
    text: str
    means: tuple[str, ...]


def main() -> None:
    for half in (1, 2):
        counts = Counter[Result](judge(one.tools, one.text, one.formulas) for one in sentences() if one.half == half)
        print(f"invented policies, half {half}: {_counted(counts)}")
    restated = list(restated_sentences())
    understood = [(tools, text) for tools, text in restated if _understood(tools, text)]
    print(f"restatements: {len(understood)} of {len(restated)} sentences with a duty understood")
    kinds: dict[str, Counter[Result]] = {}
    for mutant in mutants([*understood, *((one.tools, one.text) for one in sentences())]):
        result = judge_mutant(mutant)
        kinds.setdefault(mutant.kind, Counter())[result] += 1
        if result == "wrong":
            print(f"wrong: {mutant}: {formulas_of(mutant.tools, mutant.text)}")
    for kind, counts in kinds.items():
        print(f"mutants, {kind}: {_counted(counts)}")
    for argument in sys.argv[1:]:
        file, _, environment = argument.rpartition("=")
        _print_published(Path(file), environment)


def _counted(counts: Counter[Result]) -> str:
    results: tuple[Result, ...] = ("right", "not understood", "wrong")
    return f"{counts.total()}: " + ", ".join(f"{counts[result]} {result}" for result in results)


def sentences() -> list[Sentence]:
    """The sentences of the invented policies."""
    rows = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))["sentences"]
    return [Sentence(row["tools"], row["text"], tuple(row["formulas"]), row["half"]) for row in rows]


def tools_of(name: str) -> Tools:
    """The documentation of the tools of an environment, or of the invented bank."""
    if name == "northfjord":
        return tomllib.loads(SENTENCES.read_text(encoding="utf-8"))["northfjord"]
    documented: Any = document(load_domain(name).environment)["tools"]
    return documented


def formulas_of(tools: str, text: str) -> list[str]:
    read = understand(text, tools_of(tools))
    return [rule.formula for one in read if isinstance(one, Understood) for rule in one.rules]


def judge(tools: str, text: str, formulas: Sequence[str]) -> Result:
    """Whether exactly these formulas are proposed. No rule for a sentence that has none is right."""
    proposed = formulas_of(tools, text)
    if _same_sets(proposed, formulas):
        return "right"
    return "wrong" if proposed else "not understood"


def judge_mutant(mutant: Mutant) -> Result:
    proposed = formulas_of(mutant.tools, mutant.text)
    if not proposed:
        return "not understood"
    if mutant.kind == "order word":  # a period stays as it is
        proposed = [re.sub(r"\[[<>]=[^]]*\]", "", formula) for formula in proposed]
    return "right" if all(any(_same(one, other) for other in mutant.means) for one in proposed) else "wrong"


def _same_sets(some: Sequence[str], others: Sequence[str]) -> bool:
    return len(some) == len(others) and all(any(_same(one, other) for other in others) for one in some)


def _same(one: str, other: str) -> bool:
    return same_rule(Rule(id="one", formula=one), Rule(id="other", formula=other))


def restated_sentences() -> Iterator[tuple[str, str]]:
    """The sentences with a duty of the built-in restatements and of the example, and of the manuals."""
    for name in (*BUILT_IN_DOMAINS, "docs/environments/airline"):
        law = load_domain(name).regulation
        for text in (*(provision.words() for provision in law.provisions), *law.manual):
            yield from ((name, one) for one in sentences_of(text) if obliges(one))


def _understood(tools: str, text: str) -> list[Understood]:
    return [one for one in understand(text, tools_of(tools)) if isinstance(one, Understood)]


def mutants(understood: Sequence[tuple[str, str]]) -> Iterator[Mutant]:
    for tools, text in understood:
        for one in _understood(tools, text):
            yield from _reordered(tools, one)
            yield from _negated(tools, one)
            yield from _exchanged(tools, one)
            yield from _with_foreign_words(tools, one)


def _reordered(tools: str, one: Understood) -> Iterator[Mutant]:
    """Another order word. What *must come after* means is open, so both readings count as right."""
    for word, other in _SWAPPED.items():
        changed = re.sub(rf"\b{word}\b", other, one.sentence)
        if changed != one.sentence:
            yield Mutant("order word", tools, changed, tuple(_opposites(one)))


def _opposites(one: Understood) -> Iterator[str]:
    """What the sentence may mean with the opposite order word: never the rule itself."""
    for rule in one.rules:
        if not rule.second:
            continue
        first, second = _any_of(rule.first), _any_of(rule.second)
        match one.duty.kind:
            case "before":
                yield f"G({second} -> F {first})"  # must ... after
                yield f"G({first} -> G !{second})"  # must not ... after
            case "after":
                yield f"!((!{second}) U {first})"  # before ..., must
            case "never after":
                yield f"!((!{first}) U {second})"
            case "never":
                pass


def _negated(tools: str, one: Understood) -> Iterator[Mutant]:
    if one.duty.order.startswith(("must not", "must never", "may not", "shall not")):
        changed = re.sub(r"\b(must|shall|may) (?:not|never)\b", r"must", one.sentence)
        demanded = tuple(_obliged(one))
    elif re.search(r"\b(?:must|shall)\b", one.sentence) and "only" not in one.sentence:
        changed = re.sub(r"\b(must|shall)\b", r"\1 not", one.sentence)
        demanded = tuple(_forbidden(one))
    else:
        return
    yield Mutant("negation", tools, changed, demanded)


def _obliged(one: Understood) -> Iterator[str]:
    """*must not ... before/after* without *not*."""
    for rule in one.rules:
        first, second = _any_of(rule.first), _any_of(rule.second or rule.first)
        yield f"!((!{second}) U {first})" if one.duty.kind == "before" else f"G({first} -> F {second})"


def _forbidden(one: Understood) -> Iterator[str]:
    """*must ... before/after* with *not*."""
    window = f"[{one.duty.window.bound}]" if one.duty.window else ""
    for rule in one.rules:
        for first in rule.first:
            for second in rule.second:
                if one.duty.kind == "before":
                    yield f"!((!{second.atom}) U {first.atom})"
                else:
                    yield f"G({first.atom} -> G{window} !{second.atom})"
        if one.duty.kind == "before":
            yield f"!((!{_any_of(rule.second)}) U {_any_of(rule.first)})"


def _any_of(calls: Sequence[NamedCall]) -> str:
    return f"({' | '.join(call.atom for call in calls)})"


def _exchanged(tools: str, one: Understood) -> Iterator[Mutant]:
    """The two phrases in each other's places, if each is in one piece."""
    duty = one.duty
    spans = [_span(tokens) for tokens in (duty.first, duty.second)]
    if not all(spans) or duty.condition:
        return
    (a, b), (c, d) = sorted(span for span in spans if span)
    text = one.sentence
    changed = text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
    window = f"[{duty.window.bound}]" if duty.window else ""
    firsts = list(dict.fromkeys(call.atom for rule in one.rules for call in rule.first))
    seconds = list(dict.fromkeys(call.atom for rule in one.rules for call in rule.second))
    means = [
        formula
        for first in (*firsts, f"({' | '.join(firsts)})")
        for second in (*seconds, f"({' | '.join(seconds)})")
        for formula in [
            f"!((!{second}) U {first})"
            if duty.kind == "before"
            else f"G({second} -> F{window} {first})"
            if duty.kind == "after"
            else f"G({second} -> G{window} !{first})"
        ]
    ]
    yield Mutant("phrases", tools, f"{changed[0].upper()}{changed[1:]}", tuple(means))


def _span(tokens: Tokens) -> tuple[int, int] | None:
    if not tokens or any(b.start - a.end > 1 for a, b in pairwise(tokens)):
        return None
    return tokens[0].start, tokens[-1].end


def _with_foreign_words(tools: str, one: Understood) -> Iterator[Mutant]:
    """Each telling word of each phrase replaced by one that no tool has."""
    for tokens in (one.duty.first, one.duty.second):
        for token in tokens:
            if len(token.low) > 2 and token.text.isalpha() and not _STOP.match(token.low):
                changed = one.sentence[: token.start] + _FOREIGN + one.sentence[token.end :]
                yield Mutant("foreign word", tools, changed, ())


def _print_published(file: Path, environment: str) -> None:
    domain = load_domain(environment)
    regulation = read_published_law([file], domain.regulation.by_citation).regulation
    obliging = [provision for provision in regulation.provisions if obliges(provision.words())]
    found = [(provision, one) for provision in obliging for one in _understood(environment, provision.words())]
    counts = f"{len(regulation.provisions)} provisions, {len(obliging)} with a duty, {len(found)} sentences understood"
    print(f"{file.name}: {counts}")
    for provision, one in found:
        print(f"  {provision.citation}: {one.sentence}: {', '.join(rule.formula for rule in one.rules)}")


if __name__ == "__main__":
    main()
