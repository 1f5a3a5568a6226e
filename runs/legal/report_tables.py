"""The tables of a legal report as data: M Tables 1, 2, 3 and 5 and the others."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, get_args

from lawtrace.agents.legal.decomposition import CompletedPart, StopReason, named_agent
from lawtrace.environments.legal.case import AGENTS, CONTEXTS, Case, Question, context_name
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.accuracy import Share, balanced_accuracy, balanced_weights, is_correct, share_by_case
from lawtrace.runs.legal.case_statistics import count_cases, part_lengths
from lawtrace.runs.legal.legal_files import AnswerRow
from lawtrace.runs.legal.legal_tables import CellLine, LegalTables
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline
from lawtrace.runs.legal.task_metrics import TaskScore
from lawtrace.runs.report.tables import Cell, Column, Table, Target, Value, decimal, heat, make_table, p_value, share
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


def baseline_table(baselines: Sequence[ModelFreeBaseline]) -> Table:
    """Rules that need no model."""
    return make_table(
        "baselines",
        "Baselines without a model",
        (
            {
                "Rule": line.name,
                "#Accuracy %": share(line.accuracy, digits=2, unit=""),
                "#Balanced %": share(line.balanced, digits=2, unit=""),
                "#Right": Cell(line.correct, f"{line.correct:g} of {line.questions}", {"of": line.questions}),
            }
            for line in baselines
        ),
        "rules that read no case. Balanced accuracy gives each right answer of a kind (Yes, No; A "
        "to D) the same weight, so that always Yes gets 50 % of the yes/no questions.",
    )


def comparison_table(tables: LegalTables) -> Table:
    """Contexts against F+LR."""
    return make_table(
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
    )


def _points(difference: float, interval: Interval | None) -> Cell:
    aside = f"[{show_interval(interval)}]" if interval else ""
    return Cell(difference, f"{100 * difference:+.2f}", _bounds(interval), aside)


def citation_table(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> Table:
    """Citations of the answers that name an option: whether they exist and quote correctly."""
    texts = {case.id: {chunk.ref: chunk.text for chunk in case.chunks} for case in cases}
    checks: dict[tuple[str, str], list[CitationCheck]] = {}
    for row in answers:
        group = checks.setdefault((row.model, row.context), [])
        if row.choice is not None:
            group.append(check_citations(row, texts[row.case]))

    def mean(marks: Sequence[bool]) -> Cell:
        return share(fmean(marks) if marks else None, digits=1, unit="")

    return make_table(
        "citations",
        "Citations",
        (
            {
                "Model": model,
                "Context": context,
                "#answers": len(group),
                "#cite %": mean([check.cites for check in group]),
                "#known %": mean([check.known for check in group]),
                "#quoted %": mean([check.quoted for check in group]),
            }
            for (model, context), group in checks.items()
        ),
        "of the answers that name an option, over all columns of a model and context: the share that cites a passage, "
        "cites only passages that the model was shown, and quotes only words that occur in them (without white space, "
        "case and punctuation).",
        grouped=True,
    )


class CitationCheck(NamedTuple):
    """The citations of one answer: whether there are any, only of passages that were shown, only with words that occur
    in them."""

    cites: bool
    known: bool
    quoted: bool


def check_citations(row: AnswerRow, texts: Mapping[str, str]) -> CitationCheck:
    """Check one answer; ``texts`` holds the case's chunks by reference.

    An answer without citations is neither known nor quoted. A citation without a quote can be known, not quoted.
    """
    known = bool(row.citations) and all(cited.passage in row.passages for cited in row.citations)
    quoted = known and all(
        cited.quote.strip() and _occurs_in(cited.quote, texts[cited.passage]) for cited in row.citations
    )
    return CitationCheck(bool(row.citations), known, quoted)


def _occurs_in(quote: str, text: str) -> bool:
    return f" {' '.join(tokenize(quote))} " in f" {' '.join(tokenize(text))} "


def _share(found: Share | None) -> Cell:
    """A share with its interval below it."""
    if found is None:
        return Cell(None, "–")
    return Cell(
        found.value,
        percent(found.value, digits=2, unit=""),
        {**_bounds(found.interval), "of": found.of},
        below=(show_interval(found.interval),),
    )


def decomposition_table(answers: Sequence[AnswerRow]) -> Table:
    """Parts of questions, of each model and context with a decomposed question."""
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in answers:
        if row.steps:
            groups.setdefault((row.model, row.context), []).append(row)
    return make_table(
        "parts",
        "Parts of questions",
        (
            {"Model": model, "Context": context, **_parts(rows, [step for row in rows for step in row.steps])}
            for (model, context), rows in groups.items()
        ),
        "over all columns of a model and context: number for each question; greatest depth; why a part was not "
        "split further; which agents answered. Rerouted: the Meta-LLM named no active agent, so code chose one.",
        grouped=True,
    )


def _parts(rows: Sequence[AnswerRow], steps: Sequence[CompletedPart]) -> dict[str, Cell | str | int | None]:
    ended, agents = Counter(step.ended for step in steps), Counter(step.agent for step in steps)
    return {
        "#parts a question": decimal(len(steps) / len(rows)),
        "#deepest": max(step.depth for step in steps),
        **{f"#not split because > {reason}": ended[reason] for reason in get_args(StopReason)},
        "agents": ", ".join(f"{agent} {agents[agent]}" for agent in AGENTS if agents[agent]),
        "#rerouted": sum(named_agent(step.wanted, AGENTS) != step.agent for step in steps),
        "#unusable": sum(step.found is None for step in steps),
    }


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


def breakdown_tables(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> tuple[Table, Table]:
    """Accuracy of each model in each context by kind of question, and by case."""
    questions = {question.id: question for case in cases for question in case.questions}
    weights = balanced_weights(questions.values())
    groups: dict[tuple[str, str], list[AnswerRow]] = {}
    for row in answers:
        groups.setdefault((row.model, row.context), []).append(row)

    def of(rows: Sequence[AnswerRow], belongs: Callable[[Question], bool]) -> Cell:
        return _share(share_by_case((row for row in rows if belongs(questions[row.question])), is_correct))

    def in_case(rows: Sequence[AnswerRow], case: Case) -> Cell:
        right = [is_correct(row) for row in rows if row.case == case.id]
        return heat(fmean(right) if right else None)

    return (
        make_table(
            "accuracy-by-kind",
            "Accuracy % by kind of question",
            (
                {
                    "Model": model,
                    "Context": context,
                    "#balanced": _share(balanced_accuracy(rows, weights)),
                    "#yes/no": of(rows, lambda question: question.kind == "yes_no"),
                    "#A–D": of(rows, lambda question: question.kind == "four_options"),
                    "#decision": of(rows, lambda question: question.decision),
                    "#opinion": of(rows, lambda question: not question.decision),
                }
                for (model, context), rows in groups.items()
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
                    "Model": model,
                    "Context": context,
                    **{Column(case.id, numeric=True): in_case(rows, case) for case in cases if case.questions},
                }
                for (model, context), rows in groups.items()
            ),
            "over all columns of a model and context.",
            grouped=True,
        ),
    )


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
