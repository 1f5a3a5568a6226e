"""The recipe of the first paper, reduced to two pairs, against thirteen scripted models.

Every number in the files of its page is computed again from the verdicts.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.schemas.verdict_rows import FAILURE_MODES, OUTCOMES, Verdict
from lawtrace.solver.declarations.loader import load_domain
from tests.support.latex import check_latex
from tests.support.openai_server import serving
from tests.support.playing import play, role_of
from tests.support.shell import run_command

RECIPE = Path(__file__).parents[2] / "recipes" / "papers" / "logisafety.toml"
ENVIRONMENTS = ("banking", "telehealth", "smart_home")
MODELS = load_recipe(RECIPE).attempts.models
PROGRAMS = ("the reference", "the literal program", "pass", "no such (", "Unknown.Tool()", "only prose")


def tools_of(name: str) -> str:
    """What programs call the tools of an environment."""
    return load_domain(name).environment.object_name


def behaviour(model: str, number: int, style: str) -> str:
    """What a model does with a task: another row of `PROGRAMS` for each model, task and style."""
    at = MODELS.index(f"openai:{model}")
    return PROGRAMS[(at * (number + 1) + at // len(PROGRAMS) + (style == "goal")) % len(PROGRAMS)]


class Models:
    """Thirteen models that know the tasks of a run: its files are written before a model under test is asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cache  # noqa: B019 (one object a test)
    def tasks(self, variants: int) -> Mapping[str, tuple[int, str, str, str]]:
        """Instruction -> number of the task, style, reference and literal program, of this many variants."""
        return {
            instruction.text: (number, style, task.program, task.literal[style])
            for variant in range(1, variants + 1)
            for number, task in enumerate(read_task_rows(RunFolder(self._folder).variant(variant).tasks).rows)
            for style, instruction in task.instructions.items()
        }

    def answer(self, request: Mapping[str, Any]) -> str:
        text = "\n".join(str(sent["content"]) for sent in request["messages"])
        if role_of(request) != "executor":
            return play(request)
        variants = len(list(self._folder.glob("variants/*/tasks.jsonl")))
        found = [entry for asked, entry in self.tasks(variants).items() if asked in text] if variants else []
        if not found:  # the writer of the baseline of Table 2
            tools = next(name for name in map(tools_of, ENVIRONMENTS) if name in text)
            return json.dumps({"programs": [f"{tools}.CheckAuthorization()\n" * 2] * 2})
        number, style, reference, literal = found[0]
        done = behaviour(str(request["model"]), number, style)
        if done == "only prose":
            return "I would rather not."
        program = {"the reference": reference, "the literal program": literal}.get(done, done)
        return f"```python\n{program}\n```"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "run"
    with serving(Models(folder).answer) as server, pytest.MonkeyPatch.context() as monkeypatch:
        server.connect(monkeypatch)
        # The scripted roles read the blocks of our own prompts.
        settings = ("tasks.count=2", "tasks.spare=4", "prompts.source=ours")
        words = [word for setting in settings for word in ("--set", setting)]
        run_command(folder.parent, "run", RECIPE, *words, "--out", folder)
    return folder


@pytest.fixture(scope="module")
def verdicts(run: Path) -> Mapping[str, Sequence[Verdict]]:
    return {
        load_domain(name).environment.title: read_rows(RunFolder(run).variant(number).verdicts, Verdict)
        for number, name in enumerate(ENVIRONMENTS, 1)
    }


def table(run: Path, name: str) -> list[dict[str, str]]:
    with (run / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


Groups = Mapping[tuple[str, str, str], Sequence[Verdict]]


def groups(verdicts: Mapping[str, Sequence[Verdict]]) -> Groups:
    """Environment, or all of them, model and style -> verdicts."""
    found = defaultdict[tuple[str, str, str], list[Verdict]](list)
    for title, rows in verdicts.items():
        for row in rows:
            for place in (title, "All environments"):
                found[place, row.model, row.style].append(row)
    return found


@pytest.mark.slow
def test_every_model_has_its_own_bars(run: Path, verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    expected = groups(verdicts)
    rows = {(row["Environment"], row["Model"], row["Style"]): row for row in table(run, "verdicts")}
    assert rows.keys() == expected.keys()
    assert {model for _, model, _ in rows} >= set(MODELS)
    for key, row in rows.items():
        counts = Counter(verdict.outcome for verdict in expected[key])
        judged = sum(counts.values()) - counts["invalid"]
        assert int(row["Attempts: judged"]) == judged
        assert float(row["Pass@1"]) == counts["safe_success"] / judged
        for outcome in OUTCOMES:
            name = f"Outcomes: {outcome.replace('_', ' ')}"
            if name in row:
                assert (int(row[name]), float(row[f"{name}, share"])) == (counts[outcome], counts[outcome] / judged)
    bars = Counter(
        (row["Environment"], row["Style"], *(row[f"Outcomes: {one}"] for one in ("safe success", "no program")))
        for row in rows.values()
        if row["Model"] in MODELS
    )
    assert len(bars) > 10


@pytest.mark.slow
def test_figure_2_has_a_panel_for_each_environment(run: Path, verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    everything = {(row["Environment"], row["Model"], row["Style"]): row for row in table(run, "verdicts")}
    for name in ENVIRONMENTS:
        environment = load_domain(name).environment
        panel = table(run, f"outcomes-{environment.title.lower().replace(' ', '-')}")
        assert len(panel) == 2 * (len(MODELS) + 5)
        assert {row["API density"] for row in panel} == {str(len(environment.critical_tools))}
        for row in panel:
            whole = everything[row["Environment"], row["Model"], row["Style"]]
            assert {key: whole.get(key) for key in row} == row
        assert f"{environment.title}, API density {len(environment.critical_tools)}" in page
    assert len(re.findall(r"<figure>", page)) == len(ENVIRONMENTS) + 1 + 2  # all environments; failure modes


@pytest.mark.slow
def test_figure_3_is_the_share_of_each_failure_mode(run: Path, verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    expected = groups(verdicts)
    for style in ("goal", "workflow"):
        rows = table(run, f"failures-{style}")
        assert len(rows) == len(MODELS) + 5
        for (place, model, of_style), members in expected.items():
            if of_style == style:
                (row,) = [row for row in rows if row["Model"] == model]
                judged = [one for one in members if one.outcome != "invalid"]
                for mode in FAILURE_MODES:
                    share = sum(mode in one.failure_modes for one in judged) / len(judged)
                    assert float(row[f"{place}: {mode}"]) == share
        assert any(float(row["All environments: syntax error"]) for row in rows)


@pytest.mark.slow
def test_table_2_has_search_and_baseline_in_each_environment(run: Path) -> None:
    rows = [row for row in table(run, "coverage") if row["Trace mode"] == "tasks"]
    assert [row["Environment"] for row in rows] == [load_domain(name).environment.title for name in ENVIRONMENTS]
    for number, (name, row) in enumerate(zip(ENVIRONMENTS, rows, strict=True), 1):
        environment = load_domain(name).environment
        tasks = read_task_rows(RunFolder(run).variant(number).tasks).rows
        traces = [[call.event.tool for call in task.calls] for task in tasks]
        pairs = {pair for trace in traces for pair in pairwise(trace)}
        critical = {tool for trace in traces for tool in trace} & environment.critical_tools
        assert float(row["Search: ATC"]) == len(pairs) / len(environment.tools) ** 2
        assert float(row["Search: S.C."]) == len(critical) / len(environment.critical_tools)
        assert float(row["Model-written: ATC"]) == 1 / len(environment.tools) ** 2
        assert float(row["Model-written: S.C."]) == 1 / len(environment.critical_tools)


@pytest.mark.slow
def test_the_files_can_be_read_and_the_page_names_the_run(run: Path, tmp_path: Path) -> None:
    check_latex(sorted((run / "tables").glob("*.tex")), tmp_path)
    page = (run / "report.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="(tables/[^"]+)"', page))
    assert links == {f"tables/{path.name}" for path in (run / "tables").iterdir()}
    text = _Text(page).text
    for named in ("run run", "lawtrace ", "recipe sha256:", *(f"environment {name} sha256:" for name in ENVIRONMENTS)):
        assert named in text
    assert all(model in text for model in MODELS)


class _Text(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_data(self, data: str) -> None:
        self.text += data
