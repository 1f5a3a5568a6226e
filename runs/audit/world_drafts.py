"""From tool schemas, a policy page and recorded conversations to the folder of an environment, by models."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from lawtrace.agents.conversation import first_usable
from lawtrace.agents.conversations.formalized_group import MOST_PROVISIONS, FormalizedGroup, provision_groups
from lawtrace.agents.conversations.world_drafting import DraftedWorld, draft_world
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.world_roles import WORLD_WRITER, SentenceKind
from lawtrace.environments.documents.legal_text import Provision
from lawtrace.environments.regulations.published_law import read_published_law
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.toml_file import toml_text
from lawtrace.environments.tool_schemas.forms import as_mcp
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.audit.judging import event_of_turn
from lawtrace.runs.audit.replay import Fidelity, replay
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.runs.audit.world_checks import WorldChecks, sample_calls
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import EXTRACTED_RULES, FORMALIZED, TRACES
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.schemas.errors import LawtraceError, SearchError
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import REGULATION, RULES, WORLD, Domain
from lawtrace.solver.rules import Rule

POLICY: Final = "POLICY"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")
_SAMPLES: Final = 2
"""How many traces are sought in a new environment."""
_SAMPLE_LENGTH: Final = 4
MANY_CHANGES: Final = 3


def read_policy(page: Path) -> Regulation:
    """The sentences of a page as provisions, each with a citation of its own. Raises InputError."""
    law = read_published_law([page], ()).regulation
    found = list[Provision]()
    for provision in law.provisions:
        section = (provision.within[-1] if provision.within else law.title).replace("(", "[").replace(")", "]")
        sentences = _SENTENCE.split(provision.words())
        for number, text in enumerate(sentences, 1):
            own = provision.citation if "(" in provision.citation else f"{section} ({len(found) + 1})"
            citation = f"{own}, sentence {number}" if own == provision.citation and len(sentences) > 1 else own
            found.append(Provision(citation=citation, text=text, within=(*provision.within[:1], section)))
    title = found[0].within[0] if len(found[0].within) > 1 else law.title
    return Regulation(id=POLICY, title=title, source=page.name, restated=False, provisions=tuple(found))


@dataclass(frozen=True, slots=True)
class Sentence:
    """What became of a sentence of the policy. ``rules``: those that rest on it; ``because``: why there is none."""

    citation: str
    text: str
    kind: SentenceKind
    rules: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class WorldResult:
    """What was drafted.

    Attributes:
        domain: the environment; None if no draft could be used.
        groups: the extraction of rules, by groups of the policy.
        traces: how many sample traces were found; a text says why there are none.
        trouble: why no rules could be written.
    """

    drafted: DraftedWorld
    domain: Domain | None
    rules: tuple[Rule, ...] = ()
    groups: tuple[FormalizedGroup, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    traces: int | str = 0
    trouble: str | None = None


async def make_world(
    session: Session, recipe: Recipe, models: Mapping[str, ModelSpec], checks: WorldChecks, folder: Path
) -> WorldResult:
    """Hold the conversation about the declaration, then that about rules, and write the folder.

    Args:
        models: of the two roles that draft.
        folder: exists.
    """
    policy, prompts = checks.policy, prompts_of(recipe.prompts)
    shown = {one.citation: one.text for one in policy.provisions} if policy else {}
    drafted = await first_usable(
        lambda place: draft_world(
            checks.report,
            role_models=RoleModels(session.clients, models, recipe.parameters, prompts),
            context=place,
            event_log=session.event_log,
            most_rounds=recipe.conversation.rounds,
            inputs={
                "tools": json.dumps([as_mcp(one) for one in checks.schemas], indent=1, ensure_ascii=False),
                "policy": json.dumps(shown, indent=1, ensure_ascii=False),
                "calls": sample_calls(checks.seen),
            },
        ),
        Context(stage="draft", role=WORLD_WRITER.name, unit=checks.name, conversation_kind=WORLD_WRITER.name),
        1 + session.resumed,
    )
    if drafted.best is None:
        return WorldResult(drafted, None)
    (folder / WORLD).write_text(drafted.best.declaration, encoding="utf-8")
    if drafted.best.errors:
        return WorldResult(drafted, None)
    environment = checks.read(drafted.best.declaration)
    digest = hashlib.sha256(drafted.best.declaration.encode() + json.dumps(shown).encode()).hexdigest()
    regulation = policy or Regulation.model_construct(id=POLICY, title="", source="", restated=False, provisions=())
    domain = Domain(environment, regulation, folder / RULES, digest, folder)
    if policy is None:
        return WorldResult(drafted, domain)
    (folder / REGULATION).write_text(regulation_toml(policy), encoding="utf-8")
    few = len(policy.provisions) <= MOST_PROVISIONS
    options = recipe.rules.model_copy(update={"provisions": (policy.provisions[0].within[0],) if few else ()})
    recipe = recipe.model_copy(update={"environment": str(folder), "rules": options})
    provision_groups(policy, options.provisions)
    inputs = StageInputs(recipe=recipe, domain=domain, rules=(), prompts=prompts)
    try:
        products = await session.runner(inputs).make(EXTRACTED_RULES, FORMALIZED, incomplete=True)
    except LawtraceError:
        raise
    except Exception as error:  # noqa: BLE001 (terms of a model; it is part of the result)
        return WorldResult(drafted, domain, trouble=f"{type(error).__name__}: {error}")
    rules, groups = tuple(products[EXTRACTED_RULES]), tuple(products[FORMALIZED])
    traces: int | str = 0
    if rules:
        (folder / RULES).write_text(rules_toml(rules), encoding="utf-8")
        traces = await _sample_traces(session, inputs, rules)
    return WorldResult(drafted, domain, rules, groups, _sentences(policy, drafted, rules, groups), traces)


async def _sample_traces(session: Session, inputs: StageInputs, rules: tuple[Rule, ...]) -> int | str:
    """Traces that keep the rules: the solver finds them, the simulator carries them out."""
    made = {"count": _SAMPLES, "spare": 0, "length": _SAMPLE_LENGTH, "trace_mode": "tasks"}
    tasks = inputs.recipe.tasks.model_copy(update=made)
    recipe = inputs.recipe.model_copy(update={"tasks": tasks})
    sampled = StageInputs(recipe=recipe, domain=inputs.domain, rules=rules, prompts=inputs.prompts)
    try:
        return len((await session.runner(sampled).make(TRACES))[TRACES])
    except SearchError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 (terms of a model; it is part of the result)
        return f"{type(error).__name__}: {error}"


def _sentences(
    policy: Regulation, drafted: DraftedWorld, rules: Sequence[Rule], groups: Sequence[FormalizedGroup]
) -> tuple[Sentence, ...]:
    """Each sentence: a rule if one cites it, else what the authors say of it."""
    proposals = [by.proposal for group in groups for by in group.formalizations]
    reasons = {one.citation: one.because for proposal in proposals for one in proposal.not_checkable}
    points = {one.citation: one.asks for proposal in proposals for one in proposal.open_points}
    found = list[Sentence]()
    for provision in policy.provisions:
        name, classed = provision.citation, drafted.sentences.get(provision.citation)
        resting = tuple(rule.id for rule in rules if name in rule.provisions)
        kind: SentenceKind = "rule" if resting else "question" if name in points else "not sayable"
        because = points.get(name) or ("" if resting else reasons.get(name, ""))
        if not resting and classed is not None and classed.kind != "rule":
            kind, because = classed.kind, classed.because or because
        found.append(Sentence(name, provision.text, kind, resting, because))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class DraftFidelity:
    """How a draft compares with calls that its writer saw, with held-out ones, and of these with those of
    conversations in which `MANY_CHANGES` or more calls that change something were carried out."""

    seen: Fidelity
    held_out: Fidelity
    many_changes: Fidelity

    @classmethod
    def of(cls, domain: Domain, seen: Sequence[Transcript], held_out: Sequence[Transcript]) -> "DraftFidelity":
        environment = domain.environment

        def changes(one: Transcript) -> int:
            turns = (turn for turn in one.turns if turn.call and turn.call.answer and turn.call.caller == "agent")
            events = (event_of_turn(environment, turn, one.by, timed=True) for turn in turns)
            return sum(event.completed and event.tool in environment.changing_tools for event in events)

        many = [one for one in held_out if changes(one) >= MANY_CHANGES]
        return cls(replay(environment, seen), replay(environment, held_out), replay(environment, many))


def regulation_toml(policy: Regulation) -> str:
    """The file of the policy."""
    head = {"id": policy.id, "title": policy.title, "source": policy.source, "restated": policy.restated}
    rows = ({"citation": one.citation, "text": one.text} for one in policy.provisions)
    return "\n[[provisions]]\n".join(map(_keys, (head, *rows)))


def rules_toml(rules: Sequence[Rule]) -> str:
    """The file of extracted rules. Definitions of one name that differ get a number."""
    text, body, definitions = "", "", dict[str, str]()
    questions = {question.id: question for rule in rules for question in rule.questions}
    for question in questions.values():
        text += f"[[questions]]\n{_keys(question.model_dump(mode='json'))}\n"
    for rule in rules:
        formula, renamed = rule.formula, dict[str, str]()

        def named(formula: str, renamed: Mapping[str, str] = renamed) -> str:
            for name, other in renamed.items():
                formula = re.sub(rf"\b{name}\b", other, formula)
            return formula

        for one in rule.definitions:
            name, number = one.name, 2
            whole = one.model_dump(mode="json") | {"formula": named(one.formula)}
            while definitions.get(name, _keys({**whole, "name": name})) != _keys({**whole, "name": name}):
                name, number = f"{one.name}_{number}", number + 1
            definitions[name] = _keys({**whole, "name": name})
            renamed[one.name] = name
        fields = rule.model_dump(mode="json", exclude={"schema_version", "definitions", "questions"}, exclude_none=True)
        body += f"[[rules]]\n{_keys(fields | {'formula': named(formula)})}\n"
    return text + "".join(f"[[definitions]]\n{one}\n" for one in definitions.values()) + body


def _keys(fields: Mapping[str, object]) -> str:
    return "".join(
        f"{name if name.isidentifier() else toml_text(name)} = {_value(value)}\n" for name, value in fields.items()
    )


def _value(value: Any) -> str:  # noqa: ANN401 (a value of JSON)
    """A value of TOML, whose texts are those of JSON."""
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            return "{ " + ", ".join(f"{toml_text(name)} = {_value(one)}" for name, one in fields.items()) + " }"
        case list():
            return "[" + ", ".join(map(_value, cast("list[Any]", value))) + "]"
        case _:
            return toml_text(value) if isinstance(value, str) else json.dumps(value)
