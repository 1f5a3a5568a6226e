"""Coverage of the intervals over few cases, in simulation.

    python benchmarks/legal/interval_coverage.py [DRAWS]

Cases have the sizes of the published dataset. The accuracy of a case is drawn from a beta distribution, so that two
answers of a case have the given correlation. For differences, both sides answer the same questions and have the same
accuracy.
"""

import random
import sys
from collections.abc import Iterator

from lawtrace.runs.legal.case_intervals import Mark, differences, paired_difference, share_interval
from lawtrace.runs.scoring.metrics import wilson_interval

SIZES = (71, 70, 75, 55, 33, 45, 32, 37, 66, 77, 15, 50, 37, 252, 35)
CASES = (2, 5, 9, 15)
CORRELATIONS = (0.0, 0.02, 0.05, 0.1)
ACCURACIES = (0.6, 0.85)


def case_accuracies(generator: random.Random, cases: int, accuracy: float, correlation: float) -> Iterator[float]:
    for _ in range(cases):
        if correlation == 0:
            yield accuracy
        else:
            strength = (1 - correlation) / correlation
            yield generator.betavariate(accuracy * strength, (1 - accuracy) * strength)


def draw(generator: random.Random, cases: int, accuracy: float, correlation: float) -> list[Mark]:
    return [
        Mark(str(case), f"{case}/{question}", float(generator.random() < of))
        for case, of in enumerate(case_accuracies(generator, cases, accuracy, correlation))
        for question in range(SIZES[case])
    ]


def share_coverage(cases: int, accuracy: float, correlation: float, draws: int) -> tuple[float, float, int]:
    """The share of intervals that hold the accuracy, their mean width, and how many are narrower than Wilson's."""
    generator = random.Random(1)
    held, width, narrower = 0, 0.0, 0
    for _ in range(draws):
        marks = draw(generator, cases, accuracy, correlation)
        interval = share_interval(marks)
        binomial = wilson_interval(sum(mark.value for mark in marks), len(marks))
        assert interval is not None
        assert binomial is not None
        held += interval.low <= accuracy <= interval.high
        width += interval.high - interval.low
        narrower += interval.high - interval.low < binomial.high - binomial.low - 1e-9
    return held / draws, width / draws, narrower


def difference_coverage(cases: int, correlation: float, draws: int) -> tuple[float, int]:
    """The share of intervals of equal sides that hold 0, and how often interval and p value say different things."""
    generator = random.Random(3)
    held, contradictions = 0, 0
    for _ in range(draws):
        pairs: list[tuple[str, str, bool, bool]] = []
        firsts = [*case_accuracies(generator, cases, 0.6, correlation)]
        seconds = [*case_accuracies(generator, cases, 0.6, correlation)]
        for case, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            for question in range(SIZES[case]):
                easy = generator.random()  # both sides find the same questions easy
                other = easy if generator.random() < 0.5 else generator.random()
                pairs.append((str(case), f"{case}/{question}", easy < first, other < second))
        found = paired_difference(differences(pairs))
        assert found is not None
        held += found.interval.low <= 0 <= found.interval.high
        contradictions += (found.p_value < 0.05) == (found.interval.low <= 0 <= found.interval.high)
    return held / draws, contradictions


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{draws} draws; coverage of 95 % intervals in %, mean width in points")
    print("cases  accuracy  correlation  share  width  narrower than Wilson's")
    for cases in CASES:
        for accuracy in ACCURACIES:
            for correlation in CORRELATIONS:
                held, width, narrower = share_coverage(cases, accuracy, correlation, draws)
                print(
                    f"{cases:5}  {accuracy:8}  {correlation:11}  {100 * held:5.1f}  {100 * width:5.1f}  {narrower:22}"
                )
    print("\ncases  correlation  difference  contradictions of interval and p")
    for cases in CASES:
        for correlation in CORRELATIONS:
            held, contradictions = difference_coverage(cases, correlation, draws)
            print(f"{cases:5}  {correlation:11}  {100 * held:10.1f}  {contradictions:32}")


if __name__ == "__main__":
    main()
