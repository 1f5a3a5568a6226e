"""The tree of a legal text: citations, introductory phrases, completeness."""

import textwrap
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.documents.law_parser import parse_legal_text
from lawtrace.environments.documents.legal_text import LegalText
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.pages import text_lines
from lawtrace.schemas.errors import InputError


def squeezed(text: str) -> str:
    return "".join(text.split())


def parse(text: str) -> LegalText:
    legal = parse_legal_text(text_lines(text, "law").lines)
    assert squeezed("".join(legal.words())) == squeezed(text)
    return legal


def provisions(text: str) -> dict[str, str]:
    return {provision.citation: provision.words() for provision in parse(text).provisions()}


DIRECTIVE = """\
CHAPTER 2
Duties of carriers
Article 7
Consent
1. A carrier shall ask before it sends.
It shall keep the answer.
2. A carrier shall:
(a) name the parcel;
(b) name who receives it, that is:
(i) the person; or
(ii) the household.
Both are named at once.
3. Paragraph 2 does not bind postmen.
Article 7a
Refusal
A refusal ends the order.
ANNEX II
LISTS
Part I What is sent
(1) Letters
(2) Parcels that:
(a) are heavy;
(b) are large.
"""


def test_citations_of_a_union_act_follow_legal_conventions() -> None:
    assert provisions(DIRECTIVE) == {
        "Article 7(1)": "A carrier shall ask before it sends. It shall keep the answer.",
        "Article 7(2)": "A carrier shall: Both are named at once.",
        "Article 7(2)(a)": "A carrier shall: name the parcel;",
        "Article 7(2)(b)(i)": "A carrier shall: name who receives it, that is: the person; or",
        "Article 7(2)(b)(ii)": "A carrier shall: name who receives it, that is: the household.",
        "Article 7(3)": "Paragraph 2 does not bind postmen.",
        "Article 7a": "A refusal ends the order.",
        "Annex II, Part I, (1)": "Letters",
        "Annex II, Part I, (2)(a)": "Parcels that: are heavy;",
        "Annex II, Part I, (2)(b)": "Parcels that: are large.",
    }


CODE = """\
Subpart B—Parcels
SOURCE: 1 Reg. 2.

§ 9.302 Duties.
A carrier must:
(a)(1) Standard: Names. Keep a list.
(2) Implementation specifications:
(i) One name. One for each.
(ii) As needed—
(A) More; or
(B) If not—
(1) Say why; and
(2) Write it down.
(b)(1) Standard: Time. (i) Keep it six years.
(ii) Longer if asked.
(c) Done.
[1 FR 2, Jan. 3, 2001]
§ 9.304 Words.
Parcel means a thing that is sent.
"""


def test_citations_of_a_federal_code_follow_legal_conventions() -> None:
    found = provisions(CODE)
    assert list(found) == [
        "§ 9.302(a)(1)",
        "§ 9.302(a)(2)(i)",
        "§ 9.302(a)(2)(ii)(A)",
        "§ 9.302(a)(2)(ii)(B)(1)",
        "§ 9.302(a)(2)(ii)(B)(2)",
        "§ 9.302(b)(1)",
        "§ 9.302(b)(1)(i)",
        "§ 9.302(b)(1)(ii)",
        "§ 9.302(c)",
        "§ 9.304",
    ]
    assert found["§ 9.302(b)(1)(i)"] == "A carrier must: Keep it six years."
    assert "FR" not in "".join(found.values())


def test_i_is_a_letter_or_a_numeral_by_what_comes_next() -> None:
    letters = "\n".join(f"({letter}) point {letter};" for letter in "abcdefghijk")
    assert f"Article 1(1){'(i)'}" in provisions(f"Article 1\n1. The list:\n{letters}\n")
    numerals = "(h) the last, being\n(i) one;\n(ii) two."
    assert "Article 1(1)(h)(ii)" in provisions(f"Article 1\n1. The list:\n(g) g;\n{numerals}\n")


def test_lines_broken_for_width_are_put_together_and_cross_references_open_nothing() -> None:
    text = (
        "Article 4\nNotice\n1. The carrier shall notify the person named in point\n(a) of paragraph 2 without delay,\n"
        "as laid down in\nArticle 9\nand in no other way.\n2. It names:\n(a) the parcel and what\nis in it;\n"
        "(b) itself.\n"
    )
    assert provisions(text) == {
        "Article 4(1)": "The carrier shall notify the person named in point (a) of paragraph 2 without delay, as laid "
        "down in Article 9 and in no other way.",
        "Article 4(2)(a)": "It names: the parcel and what is in it;",
        "Article 4(2)(b)": "It names: itself.",
    }


def test_recitals_are_kept_but_are_not_provisions() -> None:
    opening = "DIRECTIVE 1\nWhereas:\n(1) Parcels get lost.\n(2) They are missed.\nHAVE ADOPTED THIS DIRECTIVE:\n"
    legal = parse(f"{opening}Article 1\nA carrier shall look.\n")
    assert [node.citation for node in legal.walk() if node.kind == "recital"] == ["Recital 1", "Recital 2"]
    assert [provision.citation for provision in legal.provisions()] == ["Article 1"]
    assert legal.title.startswith("DIRECTIVE 1")


def test_a_document_without_headings_is_cited_by_its_numbers_or_counted() -> None:
    numbered = parse("1. A carrier shall look.\n2. A carrier shall:\n(a) find;\n(b) bring.\n")
    assert [p.citation for p in numbered.provisions()] == ["paragraph (1)", "paragraph (2)(a)", "paragraph (2)(b)"]
    counted = parse("A carrier shall look.\nIt shall find.\n")
    assert [p.citation for p in counted.provisions()] == ["passage 1", "passage 2"]
    assert all("no heading" in legal.parse_warnings[0] for legal in (numbered, counted))


@pytest.mark.parametrize(
    ("text", "citations"),
    [
        ("ARTICLE 1\nSCOPE\n1. It shall look.\nARTICLE 2\n1. It shall find.\n", "Article 1(1), Article 2(1)"),
        ("Article I\nIt shall look.\nArticle II\nIt shall find.\n", "Article I, Article II"),
        (
            "Art. 5\n1. It shall:\na) look;\nb) find.\nArt. 5 bis\nDone.\n",
            "Article 5(1)(a), Article 5(1)(b), Article 5 bis",
        ),
        ("Section 1. Title.\nIt shall look.\nSEC. 2. DUTY.\n(a) FIND.—It shall.\n", "Section 1, Section 2(a)"),
        ("§ 1.1 On it.\nIt shall look.\n§§ 1.2-1.3 [Reserved]\n§ 1.4 More.\nIt shall find.\n", "§ 1.1, § 1.4"),
        (
            "Article 1\nIt shall look.\nAnnex I\nLists\n1. One.\nAnnex II – More\n(a) Two.\n",
            "Article 1, Annex I, (1), Annex II, (a)",
        ),
        ("Article 1\nIt shall look.\nAppendix A to Part 164—Table\nIt shall find.\n", "Article 1, Appendix A"),
        (
            "PART 3\nOn parcels\n35 Looking\n(1) It shall look.\n(2) It shall:\n(a) find;\n(b) bring.\n36 Asking\n"
            "It shall ask.\nSCHEDULE 1\nLists\nIt shall list.\n",
            "Section 35(1), Section 35(2)(a), Section 35(2)(b), Section 36, Schedule 1",
        ),
        (
            "1 Scope\n1.1 It shall look.\n1.1.1 Twice.\n2 Duties\n2.1 It shall:\na) find;\nb) bring.\n2.2 No more.\n",
            "Section 1.1, Section 1.1.1, Section 2.1(a), Section 2.1(b), Section 2.2",
        ),
        (
            "5.1 Passwords\nProvision 5.1-1 Each shall differ.\nProvision 5.1-2 Each shall be long.\n5.2 Reports\n"
            "Provision 5.2-1 They shall be read.\n",
            "Provision 5.1-1, Provision 5.1-2, Provision 5.2-1",
        ),
        ("Article 5\n5.1 It shall look.\n5.2 It pays up to\n3.5 Million a year.\n", "Article 5.1, Article 5.2"),
        ("It must look.\nArticle 9 shall apply to it.\nAnnex I does not apply.\n", "passage 1, passage 2, passage 3"),
    ],
)
def test_every_numbering_style_is_cited(text: str, citations: str) -> None:
    assert ", ".join(provisions(text)) == citations


def test_missing_and_repeated_numbers_are_warnings_and_no_text_is_lost() -> None:
    legal = parse("Article 3\n1. One.\n4. Four.\nArticle 3\nAgain.\n")
    assert [p.citation for p in legal.provisions()] == ["Article 3(1)", "Article 3(4)", "Article 3 [2]"]
    assert any("missing" in warning for warning in legal.parse_warnings)
    assert any("occurs 2 times" in warning for warning in legal.parse_warnings)


def test_depth_from_the_format_takes_precedence() -> None:
    lines = [
        Line("Article 2", level=4, depth=0),
        Line("1. Carriers:", level=0, depth=0),
        Line("(a)", level=0, depth=1),
        Line("that are:", level=0, depth=1),
        Line("(a)", level=0, depth=2),
        Line("small;", level=0, depth=2),
        Line("(b)", level=0, depth=1),
        Line("that are large.", level=0, depth=1),
        Line("Both are bound.", level=0, depth=0),
    ]
    found = {provision.citation: provision.text for provision in parse_legal_text(lines).provisions()}
    assert list(found) == ["Article 2(1)", "Article 2(1)(a)(a)", "Article 2(1)(b)"]
    assert found["Article 2(1)"] == "Carriers: Both are bound."


# Round trip of random trees.

PHRASE = st.lists(st.sampled_from(["carriers", "shall", "look", "at", "parcels"]), min_size=2, max_size=6).map(" ".join)
NUMERALS = ("i", "ii", "iii", "iv", "v")


@st.composite
def acts(draw: st.DrawFn) -> tuple[str, Sequence[str]]:
    """The text of an act, and the citations of its provisions."""
    lines: list[str] = []
    citations: list[str] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        number += draw(st.integers(1, 3))
        lines.append(f"Article {number}")
        if draw(st.booleans()):
            lines.append(f"On {draw(PHRASE)}")
        for paragraph in range(1, draw(st.integers(1, 3)) + 1):
            points = draw(st.integers(0, 4)) if draw(st.booleans()) else 0
            lines.append(f"{paragraph}. The {draw(PHRASE)}{':' if points else '.'}")
            if not points:
                citations.append(f"Article {number}({paragraph})")
            for letter in "abcd"[:points]:
                below = draw(st.integers(0, 4)) if draw(st.booleans()) else 0
                lines.append(f"({letter}) the {draw(PHRASE)}{':' if below else ';'}")
                if not below:
                    citations.append(f"Article {number}({paragraph})({letter})")
                for numeral in NUMERALS[:below]:
                    lines.append(f"({numeral}) the {draw(PHRASE)};")
                    citations.append(f"Article {number}({paragraph})({letter})({numeral})")
    return "\n".join(lines), citations


@pytest.mark.slow
@given(acts())
def test_a_printed_random_act_has_the_expected_citations(act: tuple[str, Sequence[str]]) -> None:
    text, citations = act
    assert list(provisions(text)) == citations


@given(
    st.lists(
        st.one_of(
            PHRASE,
            st.sampled_from(
                (
                    *("Article 1", "Article 12", "§ 3.4 Words.", "(a) one;", "(i) two:", "2. three.", "(A)", "ANNEX I"),
                    *("Part II", "TITLE V", "CHAPTER 1 On it", "Whereas:", "(1) x", "[9 FR 1]", "Section 2", "(2) y"),
                    *("(b) a. (1) run in", "HAVE ADOPTED THIS"),
                )
            ),
        ),
        min_size=1,
        max_size=25,
    ),
    st.booleans(),
)
def test_no_text_is_lost_in_any_order(lines: list[str], marked: bool) -> None:
    source = [
        Line(
            line,
            level=(4 if line[0].isupper() or line[0] == "§" else 0) if marked else None,
            depth=0 if marked else None,
        )
        for line in lines
    ]
    try:
        legal = parse_legal_text(source)
    except InputError:
        return
    assert squeezed("".join(legal.words())) == squeezed("".join(lines))
    cited = [node.citation for node in legal.walk() if node.citation and node.kind != "passage"]
    assert len(set(cited)) == len(cited)


@given(st.integers(24, 120))
def test_no_word_is_lost_at_any_line_width(width: int) -> None:
    parse("\n".join(piece for line in f"{DIRECTIVE}{CODE}".splitlines() for piece in textwrap.wrap(line, width)))


# Not at 76: a paragraph that fills its last line is ambiguous with one that continues.


PARCELS = """\
§ 7.1 Definitions.
As used in this part, the following terms have the following meanings:
Parcel means a thing that is sent.
(1) Parcel excludes letters.
Heavy parcel: (1) Except as provided in paragraph (2), a parcel of ten kilograms.
(2) Not a parcel of feathers.
§ 7.2 Notices.
(a) Standard: Notices - (1) General rule. A carrier gives notice. (i) It is written.
(A) It has a date.
(B) It has a name.
(ii) It is signed.
(2) Exceptions. None, see paragraph (b)(1) of this section; (1) It is so.
(b) Storage. Notices are kept.
"""


def test_definitions_and_points_in_running_text_are_cited() -> None:
    assert list(provisions(PARCELS)) == [
        "§ 7.1 (parcel)",
        "§ 7.1 (parcel)(1)",
        "§ 7.1 (heavy parcel)(1)",
        "§ 7.1 (heavy parcel)(2)",
        "§ 7.2(a)(1)",
        "§ 7.2(a)(1)(i)",
        "§ 7.2(a)(1)(i)(A)",
        "§ 7.2(a)(1)(i)(B)",
        "§ 7.2(a)(1)(ii)",
        "§ 7.2(a)(2)",
        "§ 7.2(b)",
    ]
