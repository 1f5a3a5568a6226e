"""Asking a model what messages say, for ``lawtrace audit --model``."""

from pathlib import Path

from lawtrace.agents.conversations.message_judging import MESSAGE_JUDGE, MessageJudgment, judge_messages
from lawtrace.agents.participants import RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.runs.audit.audit import Audit
from lawtrace.runs.audit.predicates import Asked, PredicateAnswer
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import Recipe


def ask_model(audit: Audit, model: str, file: Path) -> None:
    """Ask about all messages that have no answer in the file, and append the answers to it."""
    spec, recipe = ModelSpec.parse(model), Recipe()
    if spec.is_scripted:
        raise InputError(f"--model {model}: name a model of an endpoint, such as openai:NAME, or a recording")
    asked = audit.unanswered()
    print_note(f"{len(asked)} messages to judge; answers are appended to {file}.")
    if not asked:
        return

    async def work(session: Session) -> None:
        models = RoleModels(session.clients, {MESSAGE_JUDGE.name: spec}, recipe.parameters)
        name, prompt = models.name_of(MESSAGE_JUDGE.name), models.prompt(MESSAGE_JUDGE.name).hash
        with file.open("a", encoding="utf-8") as lines:

            def write(one: Asked, judgment: MessageJudgment | RoleFailure) -> None:
                says = judgment.says if isinstance(judgment, MessageJudgment) else None
                words = judgment.words if isinstance(judgment, MessageJudgment) else judgment.reason
                speaker, predicate, text = one
                answer = PredicateAnswer.model_validate(
                    {"speaker": speaker, "predicate": predicate, "text": text, "says": says, "words": words}
                    | {"model": name, "prompt": prompt}
                )
                lines.write(answer.model_dump_json() + "\n")

            await judge_messages(models, asked, write)

    run_stages(recipe, file, "audit --model", work, force=True, sandbox=False)
