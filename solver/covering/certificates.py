"""For each pair that no compliant trace of a length has, a certificate that a reader understands.

Two derivations stand side by side. The product (`solver.product`) leaves amounts and balances out, so what it excludes
is excluded for all of them; where it was exhausted, the proof names the rules that take part (`solver.analysis`). From
rules alone it holds for traces of any length; where preconditions take part it rests on facts, and Z3 must agree (see
docs/decisions/0016-facts-by-execution.md). The bounded encoding (`solver.encoding`) reads the whole declaration; Z3
says for traces of one length, from one initial state, which refusals, missing knowledge and rules stand in the way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from environments.errors import LawtraceError
from solver.analysis.findings import enumeration, steps_of
from solver.analysis.following import keeping
from solver.analysis.preconditions import preconditions
from solver.analysis.proofs import Excluded, Prover
from solver.analysis.scopes import environment_scope, free_scope
from solver.analysis.search import LIMIT, Component
from solver.demands import Asked, completed_calls
from solver.encoding import Encoding, Obstacle
from solver.ltlf import Automaton, compile_formula, parse, product
from solver.synthesis import product_through
from solver.walks import Pair, draw_walk

__all__ = ["Certificate", "Certifier", "Disagreement"]

PRECONDITIONS = "the environment's preconditions"
FURTHEST = 60
"""How many calls beyond the length are tried for a pair that longer traces can have."""


class Disagreement(LawtraceError):
    """The encoding has a trace that the product excludes. A defect of ours."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no compliant trace has a call of ``pair[1]`` directly after one of ``pair[0]``.

    Attributes:
        scope: whether that is so for traces of any length, or only for the length asked about.
        causes: the rules, demands of the profile and preconditions that exclude it together, none to spare.
        preconditions: those of the tools that take part, as sentences; empty if they play no part.
        without: for each rule or demand among the causes a trace that would have the pair if it were not there.
        states: how many states the search went through that found none.
        shortest: a shortest trace that has the pair, where longer traces can.
        obstacles: what Z3 found to stand in the way at this length; None if it did not decide within its budget.
    """

    pair: Pair
    scope: Literal["any length", "this length"]
    causes: tuple[str, ...]
    preconditions: str
    without: Mapping[str, tuple[str, ...]]
    states: int
    shortest: tuple[str, ...] | None
    obstacles: tuple[Obstacle, ...] | None

    def __str__(self) -> str:
        first, second = self.pair
        many = len(self.causes) > 1 or self.causes == (PRECONDITIONS,)
        because = f"{enumeration(self.causes)} {'exclude' if many else 'excludes'} it"
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
    def proof(self) -> str:
        """Why to believe it."""
        sentences: list[str] = []
        if self.states:
            sentences.append(f"A search through all {self.states} states of the parts named found no exception.")
        if self.scope == "any length" and PRECONDITIONS in self.causes:
            sentences.append("Beyond this length that rests on the facts that plans go by.")
        sentences += [f"Without {part} there is one: {', '.join(steps)}." for part, steps in self.without.items()]
        if self.obstacles is None:
            sentences.append("Z3 did not decide it within its budget.")
        else:
            named = "; ".join(str(obstacle.text) for obstacle in self.obstacles)
            sentences.append(
                f"Z3, at this length and from one initial state, finds in the way: {named or 'the assumptions'}."
            )
        return " ".join(sentences)


class Certifier:
    """Writes certificates for the pairs that the product excludes, at one length."""

    def __init__(self, asked: Asked, encoding: Encoding, length: int) -> None:
        self._asked = asked
        self._encoding = encoding
        self._length = length
        environment = asked.environment
        self._parts = {demand.text: demand.automaton for demand in asked.demands(length)}
        self._components = {text: keeping(automaton) for text, automaton in self._parts.items()}
        self._prover = Prover(free_scope(environment), environment_scope(environment), LIMIT)

    def certify(self, pair: Pair) -> Certificate | None:
        """The certificate for a pair that the product excludes; None if the rules alone do not exclude it, so that the
        proof rests on the facts that plans go by, and Z3 does not decide. Raises Disagreement if Z3 has a trace with
        it."""
        answer = self._encoding.ask_pair(*pair)
        if answer.calls is not None:
            raise Disagreement(
                f"environment {self._asked.environment.name!r}: product and encoding disagree on {pair[0]} -> "
                f"{pair[1]} in traces of {self._length} calls; this is a defect, please report it with the declaration"
            )
        adjacent = compile_formula(parse(f"F({pair[0]} & X {pair[1]})"))
        proof = self._excluded(adjacent, completed_calls(self._asked.environment))
        scope: Literal["any length", "this length"] = "any length"
        if proof is None:
            scope = "this length"
            proof = self._excluded(adjacent, completed_calls(self._asked.environment, self._length))
        if proof is None:
            # The prover's budget did not do; the product, which was exhausted, did.
            proof = Excluded("environment", tuple(self._parts), {}, (), 0)
        by_world = proof.scope == "environment"
        if by_world and not answer.decided:
            return None
        named = {atom.tool for text in proof.rules for atom in self._parts[text].atoms}
        return Certificate(
            pair=pair,
            scope=scope,
            causes=(*proof.rules, *([PRECONDITIONS] if by_world or not proof.rules else [])),
            preconditions=preconditions(self._asked.environment, named | set(pair)) if by_world else "",
            without={text: steps_of(trace) for text, trace in proof.without.items()},
            states=proof.nodes,
            shortest=self._shortest(pair) if scope == "this length" else None,
            obstacles=answer.obstacles,
        )

    def certify_by_encoding(self, pair: Pair) -> Certificate | None:
        """The certificate for a pair that the product allows and of which no trace was found; None if Z3 has one, or
        does not decide."""
        answer = self._encoding.ask_pair(*pair)
        if answer.obstacles is None:
            return None
        causes = tuple(obstacle.text for obstacle in answer.obstacles)
        return Certificate(pair, "this length", causes, "", {}, 0, None, answer.obstacles)

    def _excluded(self, adjacent: Automaton, calls: Automaton) -> Excluded | None:
        goal = product(adjacent, calls, lambda has, completes: has and completes)
        answer = self._prover.anywhere(Component(goal), self._components)
        return answer if isinstance(answer, Excluded) else None

    def _shortest(self, pair: Pair) -> tuple[str, ...] | None:
        through = product_through(self._asked, pair, self._length)
        for longer in range(self._length + 1, self._length + FURTHEST):
            if through.can_finish(0, longer):
                return draw_walk(through, longer, Random(0), set())
        return None
