"""Certificates: for each pair that no compliant trace of a length has, a proof that a reader can follow.

Two derivations are combined. The bounded encoding (`lawtrace.solver.search.smt.bounded_model_checking`) reads the whole
declaration: for traces of one length, from an initial state of each class, Z3 names the refusals, missing knowledge and
rules that exclude the pair; or it finds a trace, which counts because the simulator executed it. From what Z3 named, a
proof for every length is tried (`lawtrace.solver.search.products`). From rules alone it holds in any environment. Of a
rule on time, several objects or sums it uses the skeleton; what the skeleton excludes, the rule excludes. If
preconditions take part it depends on the planner's abstraction, and is claimed only if Z3 agrees
(docs/decisions/0016-facts-by-execution.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from lawtrace.schemas.events import Event
from lawtrace.schemas.trace_options import ToolPair
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import product
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.planner.product import Product, environment_scope
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs, completed_calls_automaton
from lawtrace.solver.search.explanations import describe_preconditions, join_names, step_texts
from lawtrace.solver.search.problem import Answer, Found, Impossible, Obstacle, Proof, Unknown
from lawtrace.solver.search.products.call_scopes import AbstractTrace, free_scope
from lawtrace.solver.search.products.product_search import Component
from lawtrace.solver.search.products.prover import Prover
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding

Events = tuple[Event, ...]

PRECONDITIONS = "the environment's preconditions"
MAX_EXTRA_CALLS = 60
"""How many longer lengths are tried for a pair that needs more calls."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that no compliant trace has a call of ``pair[1]`` directly after one of ``pair[0]``.

    Attributes:
        scope: whether it holds for traces of any length, or only for the length analysed.
        causes: the rules, trace mode requirements and preconditions that exclude it together, a minimal set.
        preconditions: those of the tools involved, as sentences; empty if they are not needed.
        without: for each rule or requirement among the causes a trace that has the pair and keeps the other causes, as
            far as tools alone show it.
        states: the number of states that the exhaustive search visited.
        shortest: a shortest trace with the pair, if longer traces can have it.
        obstacles: the unsat core of Z3 at this length; None if Z3 did not decide within its budget.
        skeletons: the rules among the causes of which only the skeleton was used.
    """

    pair: ToolPair
    scope: Literal["any length", "this length"]
    causes: tuple[str, ...]
    preconditions: str
    without: Mapping[str, tuple[str, ...]]
    states: int
    shortest: tuple[str, ...] | None
    obstacles: tuple[Obstacle, ...] | None
    skeletons: tuple[str, ...] = ()

    def __str__(self) -> str:
        first, second = self.pair
        many = len(self.causes) > 1 or self.causes == (PRECONDITIONS,)
        because = f"{join_names(self.causes)} {'exclude' if many else 'excludes'} it"
        if self.scope == "any length":
            sentence = f"{first} -> {second} is impossible in traces of any length: {because}."
        elif self.shortest is not None:
            sentence = (
                f"{first} -> {second} needs more calls, {len(self.shortest)} at least: {', '.join(self.shortest)}."
            )
        else:
            sentence = f"{first} -> {second} is impossible in traces of this length: {because}."
        return f"{sentence} {self.preconditions}".rstrip()

    @property
    def uses_preconditions(self) -> bool:
        """Whether the proof uses preconditions, as abstracted by the planner."""
        return PRECONDITIONS in self.causes

    @property
    def proof(self) -> str:
        """The evidence in words."""
        sentences: list[str] = []
        if self.states:
            sentences.append(f"A search through all {self.states} states of the parts named found no exception.")
        if self.scope == "any length" and self.uses_preconditions:
            sentences.append("Beyond this length that rests on the facts that plans go by.")
        if self.skeletons:
            sentences.append(f"Of {join_names(self.skeletons)} what it says of tools alone is enough.")
        others = "the tools of the others allow one" if self.skeletons else "there is one"
        sentences += [f"Without {part} {others}: {', '.join(steps)}." for part, steps in self.without.items()]
        if self.obstacles is None:
            sentences.append("Z3 did not decide it within its budget.")
        else:
            named = "; ".join(obstacle.text for obstacle in self.obstacles) or "the assumptions"
            sentences.append(f"Z3, at this length and from initial states of each kind, names as obstacles: {named}.")
        return " ".join(sentences)


class Certifier:
    """Decides the pairs that no trace has shown yet, for one length."""

    def __init__(self, spec: TraceSpec, encodings: Sequence[BoundedEncoding], length: int) -> None:
        """`encodings`: one for an initial state of each class."""
        self._spec = spec
        self._encodings = encodings
        self._length = length
        environment = spec.environment
        requirements = spec.requirements(length)
        self._parts = {requirement.name: requirement.automaton for requirement in requirements}
        self._skeletons = frozenset(
            requirement.name for requirement in requirements if isinstance(requirement.exact, FirstOrderRule)
        )
        self._components = {requirement.name: requirement.component for requirement in requirements}
        self._product = Product(environment, spec.automata(length))
        self._prover = Prover(free_scope(environment), environment_scope(environment))

    def decide(self, pair: ToolPair, *, planned: bool) -> Certificate | Found[Events] | Unknown:
        """Return a certificate that no trace of the length has the pair, or a trace that has it.

        If the product allows the pair (``planned``), only Z3 can exclude it. Otherwise, proofs that use preconditions
        are only claimed with Z3.
        """
        answer = self._ask(pair)
        if isinstance(answer, Found):
            return answer
        obstacles = answer.core if isinstance(answer, Impossible) else None
        proved = None if planned else self._prove(pair, obstacles)
        if proved is not None and (obstacles is not None or not proved.uses_preconditions):
            return proved
        if isinstance(answer, Unknown):
            return answer
        if self._spec.environment.agenda:
            return Unknown("other initial states have other things that happen without a call")
        causes = tuple(obstacle.text for obstacle in answer.core)
        shortest = None if planned else self._shortest(pair)
        return Certificate(pair, "this length", causes, "", {}, 0, shortest, answer.core)

    def _ask(self, pair: ToolPair) -> Answer[Events]:
        """A trace from any initial state; else that one was not decided; else the core of the first encoding."""
        answers: list[Answer[Events]] = []
        for encoding in self._encodings:
            answers.append(encoding.ask_pair(*pair))
            if isinstance(answers[-1], Found):
                return answers[-1]
        return next((answer for answer in answers if isinstance(answer, Unknown)), answers[0])

    def _prove(self, pair: ToolPair, obstacles: Sequence[Obstacle] | None) -> Certificate | None:
        """An exhaustive proof, if possible for any length: with the parts that Z3 named, else with all."""
        named = {obstacle.text for obstacle in obstacles or ()}
        few = {text: component for text, component in self._components.items() if text in named}
        adjacent = compile_formula(parse(f"F({pair[0]} & X {pair[1]})"))
        for length in (None, self._length):
            calls = completed_calls_automaton(self._spec.environment, length)
            goal = Component(product(adjacent, calls, lambda has, completes: has and completes))
            for parts in (self._components,) if obstacles is None else (few, self._components):
                proof = self._prover.prove(goal, parts)
                if isinstance(proof, Proof):
                    return self._certificate(pair, proof, obstacles, for_any_length=length is None)
        return None

    def _certificate(
        self, pair: ToolPair, proof: Proof[AbstractTrace], obstacles: Sequence[Obstacle] | None, *, for_any_length: bool
    ) -> Certificate:
        by_world = proof.scope == "environment" or not proof.core
        return Certificate(
            pair=pair,
            scope="any length" if for_any_length else "this length",
            causes=(*proof.rules, *([PRECONDITIONS] if by_world else [])),
            preconditions=self._in_words(pair, proof, obstacles or ()) if by_world else "",
            without={text: step_texts(trace) for text, trace in proof.without.items()},
            states=proof.nodes,
            shortest=None if for_any_length else self._shortest(pair),
            obstacles=None if obstacles is None else tuple(obstacles),
            skeletons=tuple(text for text in proof.rules if text in self._skeletons),
        )

    def _in_words(self, pair: ToolPair, proof: Proof[AbstractTrace], obstacles: Sequence[Obstacle]) -> str:
        """The preconditions that Z3 named, else those of all tools that take part."""
        tools = {obstacle.tool for obstacle in obstacles if obstacle.tool is not None}
        refusals = [obstacle.text for obstacle in obstacles if obstacle.kind == "precondition"]
        judged = {atom.tool for text in proof.rules for atom in self._parts[text].atoms}
        demanded = describe_preconditions(self._spec.environment, tools or judged | set(pair))
        return " ".join([*refusals, *([demanded] if demanded else [])])

    def _shortest(self, pair: ToolPair) -> tuple[str, ...] | None:
        for longer in range(self._length + 1, self._length + MAX_EXTRA_CALLS):
            if pair in self._product.feasible_pairs(longer):
                found = draw_tool_sequence(self._product, longer, Random(0), {pair})
                if pair in adjacent_pairs(found):
                    return found
        return None
