import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.documents.labels import ListLabel, label_readings, read_labels


def styles(label: str) -> dict[str, tuple[int, str]]:
    return {reading.style: reading.value for reading in label_readings(label)}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("(i)", {"a (#)": (9, ""), "i (#)": (1, "")}),
        ("(iv)", {"i (#)": (4, "")}),
        ("(viii)", {"i (#)": (8, "")}),
        ("(B)", {"A (#)": (2, "")}),
        ("2a.", {"1 #.": (2, "a")}),
        ("(iiii)", {}),
    ],
)
def test_a_label_has_all_its_possible_readings(label: str, expected: dict[str, tuple[int, str]]) -> None:
    assert styles(label) == expected


def test_twice_the_letter_a_comes_after_z_or_behind_a() -> None:
    assert [reading.value for reading in label_readings("(aa)")] == [(27, ""), (1, "a")]


@pytest.mark.parametrize(
    ("line", "labels", "rest"),
    [
        ("(a)(1) The provider", ["(a)", "(1)"], "The provider"),
        ("1.   Member", ["1."], "Member"),
        ("(a)", ["(a)"], ""),
        ("(EU) 2015/2366 applies", [], "(EU) 2015/2366 applies"),
        ("2.5 per cent", [], "2.5 per cent"),
        ("(or) so", [], "(or) so"),
        ("ii) the payer", ["ii)"], "the payer"),
    ],
)
def test_labels_are_distinguished_from_words(line: str, labels: list[str], rest: str) -> None:
    found, words = read_labels(line)
    assert ([label.text for label in found], words) == (labels, rest)


@given(st.integers(1, 40))
def test_numerals_follow_each_other(number: int) -> None:
    numerals = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    tens = ["", "x", "xx", "xxx", "xl"]

    def written(n: int) -> ListLabel:
        return read_labels(f"({tens[n // 10]}{numerals[n % 10]}) words")[0][0]

    one = next(reading for reading in written(number).readings if reading.style.startswith("i "))
    two = next(reading for reading in written(number + 1).readings if reading.style.startswith("i "))
    assert two.follows(one)
    assert not one.follows(two)


def test_inserted_labels_have_predecessors_and_successors() -> None:
    (two,), (inserted,), (three,) = label_readings("2."), label_readings("2a."), label_readings("3.")
    assert inserted.follows(two)
    assert three.follows(inserted)
    assert not two.follows(inserted)
