"""Signs that a decision was not parsed."""

from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.html import html_lines
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.document_checks import check_mapped, check_parsed
from lawtrace.environments.legal.document_parts import DocumentPart, PartRange

TEXTS = {
    "1": "The Office issues this notice.",
    "2": "Article 32 applies if the Office is satisfied that a person has failed to comply.",
    "3": "A laptop was stolen.",
    "4": "The Office finds that Bottle Works infringed Article 32.",
    "5": "The penalty is £5,000.",
}
PARTS: tuple[DocumentPart, ...] = ("introduction", "rules", "facts", "findings", "penalty")


def document(**changed: str) -> Document:
    texts = {**TEXTS, **{ref.removeprefix("p"): text for ref, text in changed.items()}}
    return parse_document(text_lines("\n".join(f"{ref}. {text}" for ref, text in texts.items())).lines)


def ranges(*parts: DocumentPart) -> list[PartRange]:
    return [PartRange(first=str(place), last=str(place), part=part) for place, part in enumerate(parts, 1)]


def test_nothing_is_said_of_a_decision_in_order() -> None:
    assert check_parsed(document()) == []
    assert check_mapped(document(), ranges(*PARTS)) == []


def test_a_paragraph_with_much_of_the_text() -> None:
    (said,) = check_parsed(document(p3="It was lost. " * 400))
    assert said == "paragraph 3 holds 96% of the text: it may hold several"


def test_text_outside_of_paragraphs() -> None:
    lines = text_lines(f"NOTICE\n\n{'It was lost. ' * 120}\n\n1. It was found.\n\n2. It is here.\n").lines
    numbered = parse_document(lines)
    (said,) = [one for one in check_parsed(numbered.model_copy(update={"front": "A" * 1300})) if "before" in one]
    assert said == "the text before the numbered paragraphs has 1300 characters: it may hold some"


def test_numbers_of_sections_that_jump_back() -> None:
    titles = {1: "Facts", 4: "Law", 3: "Findings"}
    text = "\n\n".join(f"{n}. {title}\n\nIt was so,\nas all said.\nNo doubt." for n, title in titles.items())
    html = "".join(f"<h2>{n}. {title}</h2><p>It was so.</p>" for n, title in titles.items())
    for lines in (html_lines(html), text_lines(text).lines):
        assert check_parsed(parse_document(lines)) == ["section '3. Findings' comes after '4. Law'"]


def test_a_penalty_before_the_facts_and_a_breach_among_them() -> None:
    said = check_mapped(
        document(p4="It did not comply with Article 32."), ranges("rules", "penalty", "findings", "facts")
    )
    assert said == [
        "the part penalty comes before the part facts",
        "paragraph 4 is in Background, but states a finding: it becomes no passage",
    ]


def test_missing_parts() -> None:
    assert check_mapped(document(), ranges("introduction", "facts", "facts", "facts", "facts")) == [
        "no paragraph is in the part rules",
        "no paragraph is in the part findings",
        "no paragraph is in the part decision or penalty",
        "paragraph 4 is in Background, but states a finding: it becomes no passage",
    ]


def test_alternating_parts() -> None:
    many = parse_document(text_lines("\n".join(f"{n}. It is so." for n in range(1, 9))).lines)
    parts: list[DocumentPart] = ["rules", "facts", "rules", "facts", "findings", "facts", "findings", "penalty"]
    (said,) = check_mapped(many, ranges(*parts))
    assert said.startswith("the parts alternate: rules, facts, rules")
    back: list[DocumentPart] = ["rules", "facts", "findings", "penalty", "decision", "penalty", "decision", "annex"]
    assert check_mapped(many, ranges(*back)) == []
