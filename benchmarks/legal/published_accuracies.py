"""Consistency of the accuracies published with MASLegalBench (M Tables 2, 3), recomputed from the tables.

    python benchmarks/legal/published_accuracies.py [CASES]

No model is called. The model-free baselines are those of `lawtrace.runs.legal.model_free_baselines`, over the labels
of all 950 questions. They need only the label counts, except "longest option", for which the published share is used.
With CASES, the accuracies are compared with the retrieval of each ranking on these cases, which may be fewer than the
fifteen behind the tables.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import spearmanr  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.environments.legal.retrieval.embedding import Encoder, Pooling
from lawtrace.environments.legal.retrieval.ranking import cut_to_depth
from lawtrace.environments.legal.retrieval.retrievers import RetrieverName
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import retrieve

QUESTIONS = 950
YES, NO, LETTERS = 502, 145, (52, 114, 106, 31)
RULES = {
    "random": (YES + NO) / 2 + sum(LETTERS) / 4,
    "always Yes, random letter": YES + sum(LETTERS) / 4,
    "majority": float(YES + max(LETTERS)),
    "always Yes, longest option": 673.0,
}
"""Correct answers of 950; the last one as published, 70.84 %."""
DEPTHS = (1, 3, 5)
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Published:
    """One published figure, in per cent."""

    model: str
    context: str
    retriever: str
    depth: int
    percent: float

    def is_share_of(self, questions: int) -> bool:
        """Whether some count out of this many questions rounds to the figure."""
        nearest = round(self.percent * questions / 100)
        return any(f"{100 * k / questions:.2f}" == f"{self.percent:.2f}" for k in (nearest - 1, nearest, nearest + 1))


def read_figures(file: Path, model: str = "") -> Iterator[Published]:
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            for column, figure in row.items():
                retriever, _, depth = column.partition("@")
                if depth:
                    yield Published(row.get("meta_llm", model), row["agents"], retriever, int(depth), float(figure))


def show_rules(cells: Sequence[Published]) -> None:
    print(f"\nRules without a model over all {QUESTIONS} questions, and the cells that they beat (of {len(cells)})")
    for name, right in RULES.items():
        share = round(100 * right / QUESTIONS, 2)  # two decimals, as published
        print(f"  {name:<30}{share:6.2f} %{sum(cell.percent < share for cell in cells):6}")


def show_impossible(cells: Sequence[Published]) -> None:
    odd = [cell for cell in cells if not cell.is_share_of(QUESTIONS)]
    print(f"\n{len(odd)} cells are no share of {QUESTIONS}, so answers that could not be read left the denominator:")
    for cell in odd:
        most = next(count for count in range(QUESTIONS, 0, -1) if cell.is_share_of(count))
        print(f"  {cell.model:<22}{cell.context:<12}{cell.retriever}@{cell.depth}{cell.percent:8.2f}   at most {most}")


def show_added(cells: Sequence[Published]) -> None:
    print("\nF+LR+AR against F+LR, by model and depth")
    of = {(cell.model, cell.context, cell.retriever, cell.depth): cell.percent for cell in cells}
    for retriever in ("BM25", "EMB"):
        gains = [
            percent - of[model, "F+LR", by, depth]
            for (model, context, by, depth), percent in of.items()
            if (context, by) == ("F+LR+AR", retriever)
        ]
        print(f"  {retriever:<6}{sum(gain > 0 for gain in gains)} of {len(gains)} better, {fmean(gains):+.2f} points")


def show_answered(cells: Sequence[Published], refusals: Sequence[Published]) -> None:
    print("\nDeepSeek-v3.1 under BM25: accuracy among what it did not refuse")
    of = {(cell.model, cell.context, cell.retriever, cell.depth): cell.percent for cell in cells}
    for context in dict.fromkeys(refused.context for refused in refusals):
        shares = [
            100 * of[refused.model, context, refused.retriever, refused.depth] / (100 - refused.percent)
            for refused in refusals
            if refused.context == context
        ]
        print(f"  {context:<12}" + "".join(f"{share:8.1f}" for share in shares))


def show_lengths(cells: Sequence[Published], path: Path) -> None:
    cases = load_dataset(path).cases
    rankings: dict[RetrieverName, str] = {"released_bm25": "characters", "bm25": "words"}
    recipe = LegalRecipe(retrievers=tuple(rankings), depths=DEPTHS)
    texts = {(case.id, chunk.ref): chunk.text for case in cases for chunk in case.chunks}
    counts: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for row in retrieve(cases, recipe, encoder=_no_vectors):
        for context, hits in row.hits.items():
            for depth in DEPTHS:
                shown = [len(tokenize(texts[row.case, hit.ref])) for hit in cut_to_depth(hits, depth)]
                counts[row.retriever, context, depth] += [sum(shown)] if shown else []
    words = {key: fmean(numbers) for key, numbers in counts.items()}
    print(f"\nSpearman of the words that are retrieved ({len(cases)} cases) with published BM25 accuracy, by depth")
    for model in dict.fromkeys(cell.model for cell in cells):
        print(f"  {model:<22}", end="")
        for name, called in rankings.items():
            values = [
                _spearman(cells, model, depth, {c: n for (by, c, at), n in words.items() if (by, at) == (name, depth)})
                for depth in DEPTHS
            ]
            print(f"   {called}" + "".join(f"{value:7.2f}" for value in values), end="")
        print()


def _spearman(cells: Sequence[Published], model: str, depth: int, words: dict[str, float]) -> float:
    chosen = [cell for cell in cells if (cell.model, cell.retriever, cell.depth) == (model, "BM25", depth)]
    found: Any = spearmanr([words[cell.context] for cell in chosen], [cell.percent for cell in chosen])
    return float(found.statistic)


def _no_vectors(pooling: Pooling) -> Encoder:
    raise AssertionError(f"no ranking here needs vectors ({pooling})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="?")
    options = parser.parse_args()
    cells = list(read_figures(HERE / "published_accuracies.csv"))
    show_rules(cells)
    show_impossible(cells)
    show_added(cells)
    show_answered(cells, list(read_figures(HERE / "published_refusals.csv", "DeepSeek-v3.1")))
    if options.cases:
        show_lengths(cells, options.cases)


if __name__ == "__main__":
    main()
