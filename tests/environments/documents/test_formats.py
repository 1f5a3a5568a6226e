"""Readers of legal texts in all published formats, and refused files."""

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from lawtrace.environments.documents.formex import formex_lines
from lawtrace.environments.documents.law_parser import read_legal_text
from lawtrace.schemas.errors import InputError

SHARED = Path(__file__).parents[4] / "shared" / "data" / "regulations"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the published texts are not beside the checkout")
CLEAN = ("psd2_2015-2366_art_64-74_94-98", "hipaa_security_rule_45cfr164_subpartC", "cra_2024-2847_annex_I")
"""Texts without typesetting defects. Another available text has formulas in citations and restarted lists."""

TEXT = """\
Article 3
Duties
1. A carrier shall look for every parcel that it has lost, and shall tell the sender.
2. A carrier shall:
(a) keep a list of the parcels;
(b) show the list to whoever:
(i) has sent a parcel; or
(ii) waits for one.
Article 4
Exceptions
Article 3 does not bind the owner of the parcel.
"""
EXPECTED = {
    "Article 3(1)": "A carrier shall look for every parcel that it has lost, and shall tell the sender.",
    "Article 3(2)(a)": "A carrier shall: keep a list of the parcels;",
    "Article 3(2)(b)(i)": "A carrier shall: show the list to whoever: has sent a parcel; or",
    "Article 3(2)(b)(ii)": "A carrier shall: show the list to whoever: waits for one.",
    "Article 4": "Article 3 does not bind the owner of the parcel.",
}
_LABELLED = TEXT.splitlines()

MARKDOWN = """\
# Regulation on parcels

## Article 3 – Duties

1. A carrier **shall** look for every parcel that it has lost,
   and shall tell the sender.
2. A carrier shall:

   (a) keep a list of the parcels;

   (b) show the list to whoever:

   (i) has sent a parcel; or

   (ii) waits for one.

## Article 4 – Exceptions

Article 3 does not bind the owner of the parcel.
"""


def _point(label: str, words: str) -> str:
    return f'<table><tr><td><p class="oj-normal">{label}</p></td><td><p class="oj-normal">{words}</p></td></tr></table>'


XHTML = f"""\
<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML//EN" "xhtml-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><body>
<p class="oj-doc-ti">REGULATION ON PARCELS</p>
<p class="oj-ti-art">Article&nbsp;3</p><p class="oj-sti-art">Duties</p>
<p class="oj-normal">1.&nbsp;&nbsp;{_LABELLED[2][3:]}<a href="#n">(<span class="oj-super">1</span>)</a></p>
<p class="oj-normal">2.   A carrier shall:</p>
{_point("(a)", "keep a list of the parcels;")}
{_point("(b)", "show the list to whoever:" + _point("(i)", "has sent a parcel; or") + _point("(ii)", "waits for one."))}
<p class="oj-ti-art">Article 4</p><p class="oj-sti-art">Exceptions</p>
<p class="oj-normal">Article 3 does not bind the owner of the parcel.</p>
<p class="oj-note">(1) On parcels.</p>
</body></html>
"""

FORMEX = f"""\
<?xml version="1.0"?><ACT>
<BIB.INSTANCE><PAGE.FIRST>1</PAGE.FIRST></BIB.INSTANCE><TITLE><TI><P>On parcels</P></TI></TITLE>
<ENACTING.TERMS><ARTICLE><TI.ART>Article 3</TI.ART><STI.ART>Duties</STI.ART>
<PARAG><NO.PARAG>1.</NO.PARAG><ALINEA>{_LABELLED[2][3:]}<NOTE><P>On parcels.</P></NOTE></ALINEA></PARAG>
<PARAG><NO.PARAG>2.</NO.PARAG><ALINEA><P>A carrier shall:</P><LIST>
<ITEM><NP><NO.P>(a)</NO.P><TXT>keep a list of the parcels;</TXT></NP></ITEM>
<ITEM><NP><NO.P>(b)</NO.P><TXT>show the list to whoever:</TXT><P><LIST>
<ITEM><NP><NO.P>(i)</NO.P><TXT>has sent a parcel; or</TXT></NP></ITEM>
<ITEM><NP><NO.P>(ii)</NO.P><TXT>waits for one.</TXT></NP></ITEM></LIST></P></NP></ITEM></LIST></ALINEA></PARAG>
</ARTICLE><ARTICLE><TI.ART>Article 4</TI.ART><STI.ART>Exceptions</STI.ART>
<ALINEA>Article 3 does not bind the owner of the parcel.</ALINEA></ARTICLE></ENACTING.TERMS></ACT>
"""

OSCAL = {
    "catalog": {
        "metadata": {"title": "Parcels"},
        "groups": [
            {
                "title": "Carriers",
                "controls": [
                    {
                        "id": "pc-1",
                        "title": "Lists",
                        "props": [
                            {"name": "label", "value": "PC-01", "class": "zero-padded"},
                            {"name": "label", "value": "PC-1"},
                        ],
                        "params": [{"id": "p1", "label": "hours"}],
                        "parts": [
                            {
                                "name": "statement",
                                "parts": [
                                    {
                                        "name": "item",
                                        "props": [{"name": "label", "value": "a."}],
                                        "prose": "Keep for {{ insert: param, p1 }}:",
                                        "parts": [
                                            {
                                                "name": "item",
                                                "props": [{"name": "label", "value": "1."}],
                                                "prose": "a list.",
                                            }
                                        ],
                                    }
                                ],
                            },
                            {"name": "guidance", "prose": "Lists help."},
                        ],
                    }
                ],
            }
        ],
    }
}


def print_pdf(path: Path, text: str, *, width: int = 58, lines_a_page: int = 7) -> None:
    """The text as a PDF with wrapped lines, page headers and page numbers."""
    lines = [piece for line in text.splitlines() for piece in textwrap.wrap(line, width)]
    with PdfPages(path) as pdf:
        for number, start in enumerate(range(0, len(lines), lines_a_page), 1):
            figure = Figure(figsize=(8, 1 + lines_a_page / 4))
            page = ["Official pages", *lines[start : start + lines_a_page], str(number)]
            for place, line in enumerate(page):
                figure.text(0.05, 0.97 - place / (len(page) + 1), line, size=9)  # pyright: ignore[reportUnknownMemberType]
            pdf.savefig(figure)  # pyright: ignore[reportUnknownMemberType]


def provisions(path: Path) -> Mapping[str, str]:
    return {provision.citation: provision.words() for provision in read_legal_text(path).provisions()}


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.txt", TEXT), ("x.md", MARKDOWN), ("x.xml", FORMEX), ("y.xml", XHTML.replace("&nbsp;", " "))],
)
def test_every_form_gives_the_same_provisions(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = provisions(tmp_path / name)
    assert {citation: words.replace("(1)", "") for citation, words in found.items()} == EXPECTED


def test_eurlex_footnotes_are_separate_and_their_marks_stay(tmp_path: Path) -> None:
    (tmp_path / "x.xhtml").write_text(XHTML, encoding="utf-8")
    legal = read_legal_text(tmp_path / "x.xhtml")
    assert legal.notes == ("(1) On parcels.",)
    assert legal.title == "REGULATION ON PARCELS"
    assert {node.citation: node.heading for node in legal.walk() if node.kind == "unit"} == {
        "Article 3": "Duties",
        "Article 4": "Exceptions",
    }


def test_page_headers_and_numbers_are_removed(tmp_path: Path) -> None:
    print_pdf(tmp_path / "x.pdf", TEXT, lines_a_page=5)
    legal = read_legal_text(tmp_path / "x.pdf")
    assert {provision.citation: provision.words() for provision in legal.provisions()} == EXPECTED


def test_a_catalog_of_controls_is_cited_by_its_labels(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(OSCAL), encoding="utf-8")
    legal = read_legal_text(tmp_path / "x.json")
    (provision,) = legal.provisions()
    assert (provision.citation, provision.words(), provision.heading) == (
        "PC-1a.1.",
        "Keep for [hours]: a list.",
        "Lists",
    )
    assert "Lists help." in " ".join(legal.words())


BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><ACT><P>&b;</P></ACT>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><ACT><P>&a;</P></ACT>'


@pytest.mark.parametrize("content", [BOMB, OUTSIDE])
def test_xml_entities_and_external_references_are_not_resolved(content: str) -> None:
    with pytest.raises(InputError, match="never expanded"):
        formex_lines(content.encode())


def test_html_entities_declared_by_the_page_are_not_expanded(tmp_path: Path) -> None:
    declared = (
        '<!DOCTYPE html [<!ENTITY bomb "A carrier shall burst.">]><p>A carrier shall &bomb; look for parcels.</p>'
    )
    (tmp_path / "x.html").write_text(declared, encoding="utf-8")
    assert list(provisions(tmp_path / "x.html").values())[-1] == "A carrier shall &bomb; look for parcels."


CONTROLS = json.dumps({"catalog": {"metadata": {"title": "Nothing"}}})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", b"", "the document is empty"),
        ("x.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("x.docx", b"PK", r"a regulation is \.txt, "),
        ("x.pdf", b"%PDF-1.4 nothing", "not a readable PDF"),
        ("x.xml", b"<ACT><P>One</ACT>", "not well-formed XML"),
        ("x.xml", b"<P>" * 400, "nested more than"),
        ("x.json", b"{", "not JSON"),
        ("x.json", b"[" * 100_000, "not JSON|not an OSCAL"),
        ("x.json", b"[]", "not an OSCAL catalog"),
        ("x.json", CONTROLS.encode(), "contains no control"),
        ("x.txt", b"Article 1\nOn parcels\n", "contains no provision"),
        ("x.txt", b"Article 1\n" + b"(a) " * 2000, "Article 1: points are nested more than 50 deep"),
        ("x.txt", b"Article 1\n" + b"(a) text\n" * 20_000, "Article 1: points are nested more than 50 deep"),
        ("x.html", b"<script>1</script>", "contains no text"),
        ("x.txt", b"\0" * 1000, "contains no provision"),
    ],
)
def test_unusable_files_are_refused_with_a_reason(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as refused:
        read_legal_text(tmp_path / name)
    assert name in str(refused.value)


def test_pages_that_unpack_to_too_much_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pdfplumber")
    print_pdf(tmp_path / "x.pdf", TEXT, lines_a_page=5)
    monkeypatch.setattr("lawtrace.environments.documents.pdf.MAX_CONTENT_BYTES", 100)
    with pytest.raises(InputError, match="of page content, unpacked"):
        read_legal_text(tmp_path / "x.pdf")


def pdf_of_nested_forms(depth: int, width: int) -> bytes:
    """A page with a form that shows another one so many times, and so on: much text in few bytes."""
    font = b"/Font<</F 5 0 R>>"
    words = b"BT /F 12 Tf 50 700 Td (Article 1 The payer shall sign.) Tj ET"

    def stream(content: bytes, fields: bytes = b"") -> bytes:
        return b"<<%s/Length %d>>stream\n%s\nendstream" % (fields, len(content), content)

    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<%s/XObject<</X 6 0 R>>>>>>" % font,
        stream(words + b" /X Do"),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for below in range(7, 7 + depth):
        is_last = below == 6 + depth
        resources = font if is_last else b"/XObject<</X %d 0 R>>" % below
        form = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<<%s>>" % resources
        bodies.append(stream(words.replace(b"700", b"500") if is_last else b"/X Do " * width, form))
    content, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, len(content))
    return content + head + table + tail


def test_a_pdf_whose_forms_stand_for_much_text_is_refused(tmp_path: Path) -> None:
    """2.5 KB with 10^9 texts took more memory than there was."""
    pytest.importorskip("pdfplumber")
    path = tmp_path / "x.pdf"
    path.write_bytes(pdf_of_nested_forms(2, 1))
    assert len(read_legal_text(path).provisions()) == 2
    path.write_bytes(pdf_of_nested_forms(10, 10))
    with pytest.raises(InputError, match="of page content, unpacked"):
        read_legal_text(path)
    path.write_bytes(pdf_of_nested_forms(40, 1))
    with pytest.raises(InputError, match="forms are nested more than 30 deep"):
        read_legal_text(path)


def test_a_scan_and_an_encrypted_file_give_different_errors(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    with PdfPages(tmp_path / "scan.pdf") as pdf:
        pdf.savefig(Figure(figsize=(2, 2)))  # pyright: ignore[reportUnknownMemberType]
    with pytest.raises(InputError, match="contains no text, only images"):
        read_legal_text(tmp_path / "scan.pdf")
    print_pdf(tmp_path / "open.pdf", TEXT)
    writer = pypdf.PdfWriter(clone_from=tmp_path / "open.pdf")
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "closed.pdf")
    with pytest.raises(InputError, match="is encrypted; save it without a password"):
        read_legal_text(tmp_path / "closed.pdf")


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.shared
@needs_data
@pytest.mark.parametrize("path", sorted(SHARED.glob("*.txt")), ids=lambda path: path.stem)
def test_published_texts_are_reassembled_from_their_trees(path: Path) -> None:
    legal = read_legal_text(path)
    kept, text = "".join(legal.words()), path.read_text(encoding="utf-8-sig")
    if "\n## " in text:  # Markdown: its marks are not words
        kept, text = (re.sub(r"[\W_]", "", words) for words in (kept, text))
    assert squeezed(kept) == squeezed(text)
    assert (legal.parse_warnings == ()) == (path.stem in CLEAN)


@pytest.mark.shared
@needs_data
def test_published_citations_follow_legal_conventions() -> None:
    hipaa = provisions(SHARED / "hipaa_security_rule_45cfr164_subpartC.txt")
    assert {"§ 164.312(a)(2)(i)", "§ 164.306(d)(3)(ii)(B)(2)", "§ 164.316(b)(1)(ii)", "§ 164.312(d)"} <= hipaa.keys()
    cra = provisions(SHARED / "cra_2024-2847_annex_I.txt")
    assert {"Annex I, Part I, (2)(m)", "Annex I, Part II, (8)"} <= cra.keys()
    nist = provisions(SHARED / "nist_800-53_rev5_low_oscal.json")
    assert {"AC-1a.1.(a)", "AU-2e.", "IA-1c.2."} <= nist.keys()


@pytest.mark.shared
@needs_data
def test_the_directive_is_equal_in_three_formats() -> None:
    """Equal by character, except for later amendments (Articles 95(1) and 98(5)) in the consolidated text."""
    extract = provisions(SHARED / "psd2_2015-2366_art_64-74_94-98.txt")
    gazette = provisions(SHARED / "psd2_2015-2366_oj_en.xhtml")
    consolidated = provisions(SHARED / "psd2_2015-2366_consolidated_2025-01-17_en.fmx4.xml")
    assert len(extract) == 100
    for citation, words in extract.items():
        assert squeezed(gazette[citation]) == squeezed(words)
        if citation not in {"Article 95(1)", "Article 98(5)"}:
            assert squeezed(consolidated[citation]) == squeezed(words)


def told_apart(element: ElementTree.Element, is_note: Callable[[ElementTree.Element], bool]) -> tuple[str, str]:
    """All text below an element, and the text of its footnotes."""
    text, notes = [element.text or ""], [""]
    for below in element:
        inner, inner_notes = told_apart(below, is_note)
        into = notes if is_note(below) else text
        into.append(inner)
        notes.append(inner_notes)
        text.append(below.tail or "")
    return "".join(text), "".join(notes)


def prose(value: object) -> Iterator[str]:
    """Every sentence and title of an OSCAL catalog in order, without parameter names."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        for name, below in members.items():
            if name in {"title", "prose"} and isinstance(below, str):
                yield below
            elif name != "metadata":
                yield from prose(below)
    elif isinstance(value, list):
        for below in cast("list[object]", value):
            yield from prose(below)


@pytest.mark.shared
@needs_data
def test_no_sentence_of_a_catalog_is_lost() -> None:
    path = SHARED / "nist_800-53_rev5_low_oscal.json"
    legal = read_legal_text(path)
    kept = squeezed("".join((*legal.words(), *legal.notes)))
    sentences = list(prose(json.loads(path.read_text(encoding="utf-8"))["catalog"]))
    pieces = [piece for sentence in sentences for piece in re.split(r"\{\{.*?\}\}", sentence)]
    assert len(sentences) > 2500
    assert [piece for piece in pieces if squeezed(piece) not in kept] == []


@pytest.mark.slow
@pytest.mark.shared
@needs_data
@pytest.mark.parametrize("path", [SHARED / f"{name}.txt" for name in CLEAN], ids=lambda path: path.stem)
def test_a_published_text_is_equal_when_printed_as_pdf(path: Path, tmp_path: Path) -> None:
    """Page headers and numbers are removed and wrapped lines joined; each provision has the words of the text."""
    print_pdf(tmp_path / "x.pdf", path.read_text(encoding="utf-8-sig"), width=100, lines_a_page=45)
    printed = read_legal_text(tmp_path / "x.pdf")
    assert squeezed("".join(printed.words())) == squeezed(path.read_text(encoding="utf-8-sig"))
    found = {citation: squeezed(words) for citation, words in provisions(path).items()}
    assert {provision.citation: squeezed(provision.words()) for provision in printed.provisions()} == found


MARKED = """\
## § 1.1 Care.

(a) A carrier shall ask, and
shall keep what it was told, in the form that the sender
chose:
(1) in writing; or
---

(2) by voice.

## (b) Notices. A notice has a date.

## A notice that is

late counts as given.

§ 1.2 Scope.

All carriers are bound.
"""


def test_markdown_in_a_text_file_is_read_as_such(tmp_path: Path) -> None:
    (tmp_path / "care.txt").write_text(MARKED, encoding="utf-8")
    found = provisions(tmp_path / "care.txt")
    assert list(found) == ["§ 1.1(a)(1)", "§ 1.1(a)(2)", "§ 1.1(b)", "§ 1.2"]
    assert found["§ 1.1(b)"] == "Notices. A notice has a date. A notice that is late counts as given."
