"""Jobs of stages are opened on machines that have none of the files of the process that made them."""

import pickle
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.sandbox import Sandbox
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.stages.stage import StageContext
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.recipe import Recipe, RegulationOptions
from lawtrace.solver.declarations.loader import load_domain
from tests.support.bank_law import write_bank_law


def prepare(context: StageContext, _: Products, __: ExitStack) -> Callable[[str], str]:
    """What a worker knows: the environment, its place, and the title of the law."""
    assert context.published is not None
    known = f"{context.domain.environment.name} in {context.domain.folder.name}: {context.published.title}"
    return lambda _: known


def test_a_job_has_the_environment_and_the_law_with_it(tmp_path: Path) -> None:
    desk = Path(shutil.copytree(load_domain("banking").folder, tmp_path / "here" / "my_desk"))
    declared = (desk / "__init__.py").read_text(encoding="utf-8").replace('name="banking"', 'name="desk"')
    (desk / "__init__.py").write_text(declared, encoding="utf-8")
    law = tmp_path / "here" / "laws"
    law.mkdir()
    write_bank_law(law)
    resolved = resolve_recipe(Recipe(environment=str(desk), regulation=RegulationOptions(files=(law,))))
    log = MemoryEventLog()
    parts = resolved.inputs.parts
    context = StageContext(**parts, clients=ModelClients(log), event_log=log, sandbox=Sandbox(), folder=tmp_path)
    job: StageJob[str, str] = StageJob[str, str].of(context, Products(), (), prepare)
    here = prepare(context, Products(), ExitStack())("")
    pickled = pickle.dumps(job)
    shutil.rmtree(tmp_path / "here")
    with ExitStack() as stack:
        there = pickle.loads(pickled).open(stack)("")
    assert there == here
    assert here.startswith("desk in my_desk: ")
