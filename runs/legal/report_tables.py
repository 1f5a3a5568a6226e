"""The tables of a legal report as data: M Tables 1, 2, 3 and 5 and the others."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple, get_args

from lawtrace.agents.legal.decomposition import CompletedPart, StopReason, named_agent
from lawtrace.environments.legal.case import AGENTS, CONTEXTS, Case, Question, context_name
from lawtrace.environments.legal.retrieval.tokenizer import occur_in
from lawtrace.runs.legal.accuracy import (
    CellAnswers,
    CellLine,
    Share,
    balanced_accuracy,
    balanced_weights,
    compare_contexts,
    is_correct,
    share_by_case,
)
from lawtrace.runs.legal.case_statistics import count_chunks, count_questions, part_lengths
from lawtrace.runs.legal.legal_files import AnswerRow
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline
from lawtrace.runs.legal.task_metrics import TaskScore
from lawtrace.runs.report.tables import Cell, Column, Table, Target, Value, decimal, heat, make_table, p_value, share
from lawtrace.runs.report.text import percent, show_interval
from lawtrace.runs.scoring.metrics import Interval, group_by

BASELINE_CONTEXTS = [context_name(context) for context in CONTEXTS[:3]]
"""Retrieval without agents: the baselines of the paper."""

_PLACES = ("", "¹", "²")


def accuracy_table(lines: Sequence[CellLine]) -> Table:
    """M Table 2: accuracy of each Meta-LLM and context, a column for each retriever and depth."""
    return _cell_table(
        "accuracy",
        "Accuracy %",
        lines,
        _accuracy,
        "share of all questions answered correctly. Below each: its 95 % interval over cases, and its skill "
        "over the best baseline without a model. ¹ best and ² second best of a model and column. F, LR "
        "and F+LR are the paper's baselines: retrieval without agents.",
    )


def refusal_table(lines: Sequence[CellLine]) -> Table:
    """M Table 3: refusal rates, for every Meta-LLM."""
    return _cell_table(
        "refusals",
        "Refusals %",
        lines,
        _refusals,
        "share of all questions that a model declined to answer: null, an empty answer, or a text that says that the "
        "information is insufficient. Below it: its 95 % interval over cases; unreadable answers (e) and "
        "questions without a reply for a reason outside the model (i).",
    )


def _cell_table(
    name: str, title: str, lines: Sequence[CellLine], show: Callable[[CellLine], Cell], caption: str
) -> Table:
    return make_table(
        name,
        title,
        (
            {
                "Model": model,
                "Context": Cell(context, context, below=("baseline",) if context in BASELINE_CONTEXTS else ()),
                # links to the answers of the cell
                **{
                    f"#{line.cell.column}": replace(
                        show(line), link=Target("attempts", {"model": model, "unit": line.cell.unit})
                    )
                    for line in of
                },
            }
            for (model, context), of in group_by(lines, lambda line: (line.cell.model, line.cell.context)).items()
        ),
        caption,
        grouped=True,
        look="cells",
    )


def _bounds(interval: Interval | None) -> dict[str, Value]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def _share(found: Share, *below: str, mark: str = "", **more: Value) -> Cell:
    """A share with its interval and further lines below it."""
    text, bounds = percent(found.value, digits=2, unit="") + mark, _bounds(found.interval)
    return Cell(found.value, text, {**bounds, **more}, below=(show_interval(found.interval), *below))


def _accuracy(line: CellLine) -> Cell:
    skill = "–" if line.skill is None else f"{line.skill:+.2f}"
    cell = _share(line.accuracy, skill, mark=_PLACES[line.place], skill=line.skill, place=line.place or None)
    return replace(cell, look="strong" if line.place == 1 else "")


def _refusals(line: CellLine) -> Cell:
    errors, invalid = line.counts.get("error", 0), line.counts.get("invalid", 0)
    below = (f"{errors} e, {invalid} i",) if errors or invalid else ()
    return _share(line.refusals, *below, errors=errors, invalid=invalid)


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


def comparison_table(cells: CellAnswers) -> Table:
    """Contexts against F+LR."""
    return make_table(
        "contexts-against-f-lr",
        "Contexts against F+LR",
        (
            {
                "Model": cell.model,
                "Column": cell.column,
                "Context": cell.context,
                "#Points": _points(found.difference, found.interval),
                "#Only it": found.second_only,
                "#Only F+LR": found.first_only,
                "#p": p_value(found.p_value, adjusted),
            }
            for cell, found, adjusted in compare_contexts(cells)
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

    def checked(rows: Sequence[AnswerRow]) -> dict[str, Cell | int]:
        checks = [check_citations(row, texts[row.case]) for row in rows if row.choice is not None]
        shares = [fmean(marks) for marks in zip(*checks, strict=True)] or [None] * len(CitationCheck._fields)
        titles = ("#cite %", "#known %", "#quoted %")
        cells = {title: share(of, digits=1, unit="") for title, of in zip(titles, shares, strict=True)}
        return {"#answers": len(checks), **cells}

    return make_table(
        "citations",
        "Citations",
        (
            {"Model": model, "Context": context, **checked(rows)}
            for (model, context), rows in _by_context(answers).items()
        ),
        "of the answers that name an option, over all columns of a model and context: the share that cites a passage, "
        "cites only passages that the model was shown, and quotes only words that occur in them (without white space, "
        "case and punctuation).",
        grouped=True,
    )


def _by_context(answers: Sequence[AnswerRow]) -> dict[tuple[str, str], list[AnswerRow]]:
    """The answers of each model in each context."""
    return group_by(answers, lambda row: (row.model, row.context))


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
        cited.quote.strip() and occur_in(cited.quote, texts[cited.passage]) for cited in row.citations
    )
    return CitationCheck(bool(row.citations), known, quoted)


def decomposition_table(answers: Sequence[AnswerRow]) -> Table:
    """Parts of questions, of each model and context with a decomposed question."""
    return make_table(
        "parts",
        "Parts of questions",
        (
            {"Model": model, "Context": context, **_parts(rows, [step for row in rows for step in row.steps])}
            for (model, context), rows in _by_context([row for row in answers if row.steps]).items()
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
    groups = _by_context(answers)

    def shown(found: Share) -> Cell:
        return _share(found, of=found.of)

    def of(rows: Sequence[AnswerRow], belongs: Callable[[Question], bool]) -> Cell:
        rows = [row for row in rows if belongs(questions[row.question])]
        return shown(share_by_case(rows, is_correct)) if rows else Cell(None, "–")

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
                    "#balanced": shown(balanced_accuracy(rows, weights)),
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
            (_case_line(case, others=any(count_questions(one)["other"] for one in cases)) for case in cases),
            "chunks of each knowledge type; questions by kind, and by what their passage holds.",
        ),
        make_table(
            "section-lengths",
            "Paragraphs in each part",
            (
                {"Part": label, "#least": of.least, "#most": of.most, "#mean": decimal(of.mean), "#cases": of.cases}
                for label, of in part_lengths(cases).items()
            ),
            "paragraphs in each part of a decision, over the cases that have it. Published cases have only two parts.",
        ),
    )


def _case_line(case: Case, *, others: bool) -> dict[str, str | int]:
    """``others``: whether a case has questions of other kinds."""
    chunks, asked = count_chunks(case), count_questions(case)
    return {
        "Case": case.id,
        **{f"#Chunks > {agent}": chunks[agent] for agent in AGENTS},
        "#Questions > yes/no": asked["yes_no"],
        "#Questions > A–D": asked["four_options"],
        **({"#Questions > other": asked["other"]} if others else {}),
        "#Questions > decision": asked["decisions"],
        "#Questions > opinion": asked["questions"] - asked["decisions"],
    }
