"""Decisions as trees: numbered paragraphs, headings, and the flaws of text extracted from PDF."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import parse_document, read_decision
from lawtrace.environments.documents.html import html_lines
from lawtrace.environments.documents.pages import text_lines
from lawtrace.schemas.errors import InputError

SHARED = Path(__file__).parents[4] / "shared" / "data" / "decisions"

DRAWN = """\
              PENALTY NOTICE

To: Bottle Works

1.    The Office has decided to issue a penalty of 5,000
      pounds to Bottle Works.

      Legal framework

2.    Article 32 states that a controller shall ensure a level of
      security appropriate to the risk, as para
      2. of the guidance says.

      Background to the case

3.    On 4 May 2021 a lap-
      top was stolen
                                  1 from a car.1


4.    It held 300 records. The list is:

      1. names
      2. addresses.

1
 Not counting copies.
                                  2,5.    Bottle Works told nobody.

      The contravention


                                  36.    The Office finds that Bottle Works contravened Article 32.

Dated the 4th of June
A. Person
Head of Office


                                  4 ANNEX 1

      RIGHTS OF APPEAL

1.    An appeal may be brought.

2.    It must be in time.
"""


def parsed(text: str) -> Document:
    found = text_lines(text)
    return parse_document(found.lines, found.notes)


def outline(document: Document) -> dict[str, list[str]]:
    return {path: [paragraph.ref for paragraph in section.paragraphs] for path, section in document.outline()}


def texts(document: Document) -> dict[str, str]:
    return {paragraph.ref: paragraph.text for paragraph in document.paragraphs()}


def test_text_extracted_from_pdf() -> None:
    document = parsed(DRAWN)
    assert outline(document) == {
        "": ["1"],
        "Legal framework": ["2"],
        "Background to the case": ["3", "4", "5"],
        "The contravention": ["6"],
        "ANNEX 1": [],
        "ANNEX 1 > RIGHTS OF APPEAL": ["ANNEX 1/1", "ANNEX 1/2"],
    }
    found = texts(document)
    assert found["1"] == "The Office has decided to issue a penalty of 5,000 pounds to Bottle Works."
    assert found["2"].endswith("as para 2. of the guidance says.")
    assert found["3"] == "On 4 May 2021 a lap-top was stolen from a car.1"
    assert found["4"] == "It held 300 records. The list is: 1. names 2. addresses."
    assert [paragraph.page for paragraph in document.paragraphs()] == [1, 1, 1, 2, 3, 4, 5, 5]
    assert document.front == "PENALTY NOTICE To: Bottle Works"
    assert document.closing == "Dated the 4th of June A. Person Head of Office"
    assert document.notes == ("1 Not counting copies.",)
    assert document.parse_warnings == ()


def test_running_heads_are_not_text() -> None:
    page = "CONFIDENTIAL\n{n}.  Paragraph {n} is here.\nPage {n} of 3\n"
    document = parsed("\f".join(page.format(n=n) for n in (1, 2, 3)))
    assert texts(document) == {str(n): f"Paragraph {n} is here." for n in (1, 2, 3)}


HTML = """<html><head><title>x</title><style>p {}</style></head><body><nav>menu</nav>
<h1>Decision about Bottle Works</h1><p>Published in May.</p>
<h2>Background</h2><p>1. A <b>laptop</b> was stolen &amp; lost.</p><p>It was new.</p>
<h3>Later</h3><ol start="2"><li>Nobody was told.</li><li><p>Then somebody was.</p></li></ol>
<h2>Findings</h2><p>4. Article 33 was infringed.</p></body></html>"""


def test_html_marks_headings_and_numbers() -> None:
    document = parse_document(html_lines(HTML))
    assert outline(document) == {"Background": ["1"], "Background > Later": ["2", "3"], "Findings": ["4"]}
    assert texts(document)["1"] == "A laptop was stolen & lost. It was new."
    assert texts(document)["3"] == "Then somebody was."
    assert document.front == "Decision about Bottle Works Published in May."


def test_text_below_a_heading_does_not_belong_to_the_paragraph_above() -> None:
    page = (
        "<h1>Notice</h1><h2>Background</h2><ol><li>It was lost.</li></ol>"
        "<h2>Law</h2><p>It protects.</p><p>It demands:</p><ul><li>care</li></ul>"
        "<h2>Findings</h2><ol><li>It was broken.</li><li>It was ignored.</li></ol>"
        "<table><tr><td>3.</td><td>It was late.</td></tr></table>"
    )
    document = parse_document(html_lines(page))
    assert outline(document) == {"Background": ["1"], "Law": ["p1", "p2"], "Findings": ["2:1", "2:2", "2:3"]}
    assert [paragraph.text for paragraph in document.paragraphs()] == [
        "It was lost.",
        "It protects.",
        "It demands: care",
        "It was broken.",
        "It was ignored.",
        "It was late.",
    ]
    assert [warning.split(":")[0] for warning in document.parse_warnings] == [
        "the numbers begin again below 'Findings'",
        "2 paragraphs below headings have no number; they count as p1, p2 ...",
    ]


def test_headings_within_an_annex() -> None:
    page = "<h2>Findings</h2><p>1. Broken.</p><h2>Annex 1</h2><h2>The Act</h2><h2>Appeals</h2><p>1. There is one.</p>"
    document = parse_document(html_lines(page))
    assert [paragraph.ref for paragraph in document.paragraphs()] == ["1", "Annex 1/1"]


@pytest.mark.parametrize(
    "joined", ["{a} {h}\n\n{n}. {b}", "{a}\n\n{h} {n}. {b}", "{a}\n\n{n}. {h}\n\n{b}", "{a}\n\n{n}.\n{h}\n\n{b}"]
)
def test_headings_joined_to_a_number_or_to_the_paragraph_above(joined: str) -> None:
    long = "goes on until it fills\nmore than one line of the page, which is as wide as this."
    texts = [f"Paragraph {number} of the decision about Bottle Works {long}" for number in range(1, 5)]
    text = joined.format(a=f"1. {texts[0]}", h="Legal framework", n=2, b=texts[1])
    text = joined.format(a=text, h="Background to the case", n=3, b=texts[2])
    document = parsed(f"NOTICE\n\nTo: Bottle Works\n\n{text}\n\n4. {texts[3]}\n")
    assert outline(document) == {"": ["1"], "Legal framework": ["2"], "Background to the case": ["3", "4"]}
    assert [one.text for one in document.paragraphs()] == [" ".join(one.split()) for one in texts]


def test_restarted_numbering_is_a_warning() -> None:
    document = parsed("Notice\n\n1. It was lost.\n\nFindings\n\n1. It was broken.\n")
    assert [paragraph.ref for paragraph in document.paragraphs()] == ["1", "2:1"]
    (warning,) = document.parse_warnings
    assert warning == "the numbers begin again below 'Findings': its first paragraph is 2:1"


def test_a_pdf_is_read_by_pages(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    path = tmp_path / "decision.pdf"
    pages = [["1.  A laptop was stolen.", "", "Findings"], ["2.  Article 32 was", "infringed."]]
    with PdfPages(path) as pdf:
        for lines in pages:
            figure = Figure(figsize=(6, 4))
            for place, line in enumerate(lines):
                figure.text(0.1, 0.9 - place * 0.08, line)  # pyright: ignore[reportUnknownMemberType]
            pdf.savefig(figure)  # pyright: ignore[reportUnknownMemberType]
    document = read_decision(path)
    assert outline(document) == {"": ["1"], "Findings": ["2"]}
    assert texts(document)["2"] == "Article 32 was infringed."
    assert [paragraph.page for paragraph in document.paragraphs()] == [1, 2]


def test_columns_footnotes_and_running_heads_of_a_pdf(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    path = tmp_path / "decision.pdf"
    left = ["BACKGROUND", "1. A laptop was stolen", "from the office.2", "2. It was not locked."]
    right = ["FINDINGS", "3. The Office finds that", "Article 32 was infringed."]
    with PdfPages(path) as pdf:
        for page in range(4):
            figure = Figure(figsize=(6, 4))
            columns = [(0.1, left), (0.55, right)] if page == 1 else []
            printed = [(x, 0.85 - n * 0.06, line, 8) for x, lines in columns for n, line in enumerate(lines)]
            printed += [(0.1, 0.14, f"{page + 1} Letter of May 2022.", 5), (0.1, 0.96, "Official-Sensitive", 8)]
            for x, y, line, size in printed:
                figure.text(x, y, line, size=size)  # pyright: ignore[reportUnknownMemberType]
            pdf.savefig(figure)  # pyright: ignore[reportUnknownMemberType]
    document = read_decision(path)
    assert outline(document) == {"BACKGROUND": ["1", "2"], "FINDINGS": ["3"]}
    assert texts(document)["1"].startswith("A laptop was stolen from the office.")
    assert texts(document)["3"] == "The Office finds that Article 32 was infringed."
    assert "2 Letter of May 2022." in document.notes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.pdf", b"no pdf", "not a readable PDF"),
        ("x.docx", b"", "is .pdf, .html, .md or .txt"),
        ("x.txt", b"\xff\xfe", "not UTF-8"),
        ("x.txt", b" \n", "is empty"),
    ],
)
def test_other_files_are_rejected(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_decision(tmp_path / name)


WORDS = st.lists(st.sampled_from(["the", "Office", "found", "32", "records"]), min_size=1, max_size=12).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=12), st.integers(2, 5))
def test_no_word_of_a_numbered_text_is_lost(paragraphs: list[str], width: int) -> None:
    """With any line breaks, each paragraph keeps its text, place and number."""
    lines: list[str] = []
    for number, paragraph in enumerate(paragraphs, 1):
        words = f"{number}. {paragraph}.".split()
        lines += [" ".join(words[start : start + width]) for start in range(0, len(words), width)]
    assume(max(Counter(lines).values()) < 4)  # else the line is a running head
    document = parsed("\n\n".join(lines))
    assert texts(document) == {str(number): f"{text}." for number, text in enumerate(paragraphs, 1)}


@given(st.text(alphabet="aA1.2 \n\f“”", max_size=80))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    try:
        document = parsed(text)
    except InputError:
        return
    refs = [paragraph.ref for paragraph in document.paragraphs()]
    assert len(set(refs)) == len(refs)


@pytest.mark.shared
def test_the_penalty_notice_of_the_commissioner() -> None:
    if not SHARED.exists():
        pytest.skip("needs the decisions in ../shared/data/decisions")
    document = read_decision(SHARED / "tempcover_mpn.txt")
    sections = outline(document)
    assert [*sections][:5] == [
        "",
        "Legal framework",
        "Background to the case",
        "The contravention",
        "Seriousness of the contravention",
    ]
    assert sections["Background to the case"] == [str(number) for number in range(17, 37)]
    assert len(document.paragraphs()) == 87
    assert len(document.notes) == 2
    assert document.parse_warnings == ()
    assert max(paragraph.page for paragraph in document.paragraphs()) == 22


@pytest.mark.shared
def test_the_reprimand_of_the_commissioner() -> None:
    if not SHARED.exists():
        pytest.skip("needs the decisions in ../shared/data/decisions")
    document = read_decision(SHARED / "southend_council_reprimand.txt")
    assert [paragraph.ref for paragraph in document.paragraphs()] == [f"1.{number}" for number in range(1, 26)]
    assert "Mitigating factors" in outline(document)
    assert texts(document)["1.6"].count("WDTK advised the Council") == 1
