"""The tables of a legal report as data: M Tables 1, 2, 3 and 5 and the others."""

from collections.abc import Callable, Mapping, Sequence

from lawtrace.environments.legal.case import AGENTS, CONTEXTS, Case, context_name
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS
from lawtrace.runs.legal.accuracy import Share
from lawtrace.runs.legal.case_statistics import count_cases, part_lengths
from lawtrace.runs.legal.grounding import GroundingLine
from lawtrace.runs.legal.legal_tables import STOP_REASONS, CellLine, DecompositionLine, LegalTables
from lawtrace.runs.legal.retrieval_statistics import REFERENCE_RETRIEVER, DepthStatistics, RetrievalLine
from lawtrace.runs.legal.task_metrics import TaskScore
from lawtrace.runs.report.tables import (
    Cell,
    Column,
    Table,
    Target,
    Value,
    decimal,
    filled,
    heat,
    make_table,
    p_value,
    share,
)
from lawtrace.runs.report.text import percent, show_interval
from lawtrace.runs.scoring.metrics import Interval

BASELINE_CONTEXTS = [context_name(context) for context in CONTEXTS[:3]]
"""Retrieval without agents: the baselines of the paper."""

_PLACES = ("", "¹", "²")


def accuracy_table(tables: LegalTables) -> Table:
    """M Table 2: accuracy of each Meta-LLM and context, a column for each retriever and depth."""
    return _cell_table(
        "accuracy",
        "Accuracy %",
        tables,
        _accuracy,
        "share of all questions answered correctly. Below each: its 95 % interval over cases, and its skill "
        "over the best baseline without a model. ¹ best and ² second best of a model and column. F, LR "
        "and F+LR are the paper's baselines: retrieval without agents.",
    )


def refusal_table(tables: LegalTables) -> Table:
    """M Table 3: refusal rates, for every Meta-LLM."""
    return _cell_table(
        "refusals",
        "Refusals %",
        tables,
        _refusals,
        "share of all questions that a model declined to answer: null, an empty answer, or a text that says that the "
        "information is insufficient. Below it: its 95 % interval over cases; unreadable answers (e) and "
        "questions without a reply for a reason outside the model (i).",
    )


def _cell_table(name: str, title: str, tables: LegalTables, cell: Callable[[CellLine], Cell], caption: str) -> Table:
    return make_table(
        name,
        title,
        (
            {
                "Model": table.model,
                "Context": Cell(context, context, below=("baseline",) if context in BASELINE_CONTEXTS else ()),
                **{f"#{column}": cell(lines[column]) for column in tables.columns},
            }
            for table in tables.models
            for context, lines in table.lines.items()
        ),
        caption,
        grouped=True,
        look="cells",
    )


def _answers(line: CellLine) -> Target:
    """The list of the answers of a cell."""
    return Target("attempts", {"model": line.cell.model, "unit": line.cell.unit})


def _bounds(interval: Interval | None) -> dict[str, Value]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def _accuracy(line: CellLine) -> Cell:
    accuracy = line.score.accuracy
    return Cell(
        accuracy,
        percent(accuracy, digits=2, unit="") + _PLACES[line.place],
        {**_bounds(line.interval), "skill": line.skill, "place": line.place or None},
        below=(show_interval(line.interval), "–" if line.skill is None else f"{line.skill:+.2f}"),
        look="strong" if line.place == 1 else "",
        link=_answers(line),
    )


def _refusals(line: CellLine) -> Cell:
    score = line.score
    errors, invalid = score.count("error"), score.count("invalid")
    return Cell(
        score.refusals,
        percent(score.refusals, digits=2, unit=""),
        {**_bounds(line.refusals), "errors": errors, "invalid": invalid},
        below=(show_interval(line.refusals), *((f"{errors} e, {invalid} i",) if errors or invalid else ())),
        link=_answers(line),
    )


def baseline_tables(tables: LegalTables) -> tuple[Table, Table]:
    """Rules that need no model, and the word overlap in each cell."""
    return (
        make_table(
            "baselines",
            "Baselines without a model",
            (
                {
                    "Rule": line.name,
                    "#Accuracy %": share(line.accuracy, digits=2, unit=""),
                    "#Balanced %": share(line.balanced, digits=2, unit=""),
                    "#Right": Cell(line.correct, f"{line.correct:g} of {line.questions}", {"of": line.questions}),
                }
                for line in tables.baselines
            ),
            "rules that read nothing, or only words. Balanced accuracy gives each right answer of a kind (Yes, No; A "
            "to D) the same weight, so that always Yes gets 50 % of the yes/no questions.",
        ),
        make_table(
            "word-overlap",
            "Word overlap in each cell",
            (
                {
                    "Context": context,
                    **{
                        f"#{column}": share(lines[column].lexical.accuracy, digits=2, unit="")
                        for column in tables.columns
                    },
                }
                for context, lines in tables.models[0].lines.items()
            ),
            "accuracy % of the last baseline with the retrieved chunks: always Yes; of four options the one with the "
            "largest share of its words in them.",
        ),
    )


def retrieval_table(lines: Sequence[RetrievalLine], depths: Sequence[int]) -> Table:
    """What each retriever found, at each depth."""
    ran = {line.retriever for line in lines}
    measures: Mapping[str, Callable[[DepthStatistics], Cell]] = {
        "words": lambda at: decimal(at.words, 0),
        "of the question, %": lambda at: share(at.question_words, unit=""),
        "agents": lambda at: decimal(at.agents),
        "shared, %": lambda at: share(at.shared, unit=""),
    }

    def shared_with(line: RetrievalLine) -> str:
        other = REFERENCE_RETRIEVER.get(line.retriever)
        return RETRIEVER_LABELS[other] if other in ran else "–"

    return make_table(
        "retrieval",
        "Retrieval",
        (
            {
                "Retriever": RETRIEVER_LABELS[line.retriever],
                "Context": line.context,
                **{
                    Column(f"@{depth}", measure, numeric=True): cell(line.depths[depth])
                    for measure, cell in measures.items()
                    for depth in depths
                },
                Column("with", "shared, %"): shared_with(line),
                "#first chunk is > a shortest": heat(line.shortest),
                "#first chunk is > the most common": heat(line.most_common),
            }
            for line in lines
        ),
        "the retrieved chunks at each depth: number of words; share of the question's words (three letters or more) "
        "that occur in them; number of agents; share of chunks that another retriever also finds. Two signs of a "
        "ranking that hardly depends on the question: how often the first chunk is a shortest one of the pool, and how "
        "often it is the most common first chunk of the case.",
        grouped=True,
    )


def comparison_tables(tables: LegalTables) -> tuple[Table, ...]:
    """Contexts against F+LR, and models over all cells; each only with lines."""
    return filled(
        make_table(
            "contexts-against-f-lr",
            "Contexts against F+LR",
            (
                {
                    "Model": line.model,
                    "Column": line.column,
                    "Context": line.context,
                    "#Points": _points(line.comparison.difference, line.comparison.interval),
                    "#Only it": line.comparison.second_only,
                    "#Only F+LR": line.comparison.first_only,
                    "#p": p_value(line.comparison.p_value, line.adjusted),
                }
                for line in tables.comparisons
            ),
            "same model and column, on the same questions: the difference in points with its 95 % interval over "
            "cases, the questions that only one of the two answered correctly, and the p of the same distribution, in "
            "brackets adjusted by Holm's method over all lines.",
            grouped=True,
        ),
        make_table(
            "models-over-all-cells",
            "Pairs of models, over all cells",
            (
                {
                    "Model": line.first,
                    "Against": line.second,
                    "#Cells": line.cells,
                    "#Points": _points(line.difference, line.interval),
                }
                for line in tables.model_pair_totals
            ),
            "over all contexts and columns that both have. There is no p, because every question is answered once in "
            "each cell; the interval is over cases.",
        ),
    )


def _points(difference: float, interval: Interval | None) -> Cell:
    aside = f"[{show_interval(interval)}]" if interval else ""
    return Cell(difference, f"{100 * difference:+.2f}", _bounds(interval), aside)


def grounding_table(lines: Sequence[GroundingLine]) -> Table:
    """Citations of the answers that name an option."""
    return make_table(
        "citations",
        "Citations",
        (
            {
                "Model": line.model,
                "Context": line.context,
                "#answers": line.answers,
                "#cite %": _share(line.cites, digits=1),
                "#known %": _share(line.known, digits=1),
                "#quoted %": _share(line.quoted, digits=1),
            }
            for line in lines
        ),
        "of the answers that name an option, over all columns of a model and context: the share that cites a passage, "
        "cites only passages that the model was shown, and quotes only words that occur in them. "
        "Below each share: Wilson's 95 % interval, in which each question counts once.",
        grouped=True,
        look="cells",
    )


def _share(found: Share | None, *, digits: int = 2) -> Cell:
    """A share with its interval below it."""
    if found is None:
        return Cell(None, "–")
    return Cell(
        found.value,
        percent(found.value, digits=digits, unit=""),
        {**_bounds(found.interval), "of": found.of},
        below=(show_interval(found.interval),),
    )


def decomposition_table(lines: Sequence[DecompositionLine]) -> Table:
    """Parts of questions, of each model and context."""
    return make_table(
        "parts",
        "Parts of questions",
        (
            {
                "Model": line.model,
                "Context": line.context,
                "#parts a question": decimal(line.parts / line.questions),
                "#deepest": line.deepest,
                **{f"#not split because > {ending}": line.ended[ending] for ending in STOP_REASONS},
                "agents": ", ".join(f"{agent} {count}" for agent, count in line.agents.items()),
                "#rerouted": line.rerouted,
                "#unusable": line.unusable,
            }
            for line in lines
        ),
        "over all columns of a model and context: number for each question; greatest depth; why a part was not "
        "split further; which agents answered. Rerouted: the Meta-LLM named no active agent, so code chose one.",
        grouped=True,
    )


def task_table(scores: Sequence[TaskScore]) -> Table:
    """The scores of tasks by their own metric."""
    return make_table(
        "tasks",
        "Scores of tasks",
        (
            {
                "Task": score.task,
                "Metric": score.metric.replace("_", " "),
                "Model": score.cell.model,
                "Context": score.cell.context,
                "Retriever": score.cell.column,
                "#Score %": Cell(
                    score.value,
                    percent(score.value, digits=2, unit=""),
                    _bounds(score.interval),
                    below=(show_interval(score.interval),) if score.interval else (),
                ),
                "#of": score.of,
            }
            for score in scores
        ),
        "by the metric of each task; refusals and unreadable answers are wrong. Twins: pairs with both answers right, "
        "below it its 95 % interval over cases; a guess has 25.",
        look="cells",
    )


def breakdown_tables(tables: LegalTables) -> tuple[Table, Table]:
    """Accuracy by kind of question, and by case."""
    cases = list(dict.fromkeys(case for line in tables.breakdown for case in line.cases))
    return (
        make_table(
            "accuracy-by-kind",
            "Accuracy % by kind of question",
            (
                {
                    "Model": line.model,
                    "Context": line.context,
                    "#balanced": _share(line.balanced),
                    "#yes/no": _share(line.yes_no),
                    "#A–D": _share(line.four_options),
                    "#decision": _share(line.decision),
                    "#opinion": _share(line.opinion),
                }
                for line in tables.breakdown
            ),
            "over all columns of a model and context: balanced (each right answer of a kind has the same weight), by "
            "kind of question, and by whether the source passage holds a decision or an opinion; below each its 95 % "
            "interval over cases.",
            grouped=True,
            look="cells",
        ),
        make_table(
            "accuracy-by-case",
            "Accuracy by case",
            (
                {
                    "Model": line.model,
                    "Context": line.context,
                    **{Column(case, numeric=True): _by_case(line.cases.get(case)) for case in cases},
                }
                for line in tables.breakdown
            ),
            "over all columns of a model and context, with Wilson's 95 % interval, in which each question counts once.",
            grouped=True,
        ),
    )


def _by_case(found: Share | None) -> Cell:
    if found is None:
        return Cell(None, "–")
    return heat(found.value, show_interval(found.interval), more={**_bounds(found.interval), "of": found.of})


def case_tables(cases: Sequence[Case]) -> tuple[Table, Table]:
    """The cases, and M Table 5."""
    return (
        make_table(
            "cases",
            "Cases",
            (
                {
                    "Case": line.case,
                    **{f"#Chunks > {agent}": line.chunks[agent] for agent in AGENTS},
                    "#Questions > yes/no": line.yes_no,
                    "#Questions > A–D": line.four_options,
                    "#Questions > decision": line.decisions,
                    "#Questions > opinion": line.questions - line.decisions,
                }
                for line in (count_cases(case.id, case) for case in cases)
            ),
            "chunks of each knowledge type; questions by kind, and by what their passage holds.",
        ),
        make_table(
            "section-lengths",
            "Paragraphs in each part",
            (
                {
                    "Part": line.label,
                    "#least": line.least,
                    "#most": line.most,
                    "#mean": decimal(line.mean),
                    "#cases": line.cases,
                }
                for line in part_lengths(cases)
            ),
            "paragraphs in each part of a decision, over the cases that have it. Published cases have only two parts.",
        ),
    )
