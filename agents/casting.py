"""Who plays which role: the one place where roles meet model clients."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from autogen_core.models import ChatCompletionClient, LLMMessage

from agents.clients.scripted import ScriptedClient
from agents.clients.spec import ModelParameters, ModelSpec
from agents.clients.stack import ModelClients
from agents.ledger import Context
from agents.offline import OFFLINE_ROLES
from agents.roles import RoleName
from environments.errors import InputError

__all__ = ["Casting", "FixedCasting"]


class Casting(Protocol):
    """Gives a conversation the client for a role."""

    def client(self, role: RoleName, context: Context) -> ChatCompletionClient: ...


class FixedCasting:
    """One model a role, as a recipe says; ``offline`` stands for the role's deterministic stand-in."""

    def __init__(
        self, clients: ModelClients, models: Mapping[RoleName, ModelSpec], parameters: ModelParameters
    ) -> None:
        self._clients = clients
        self._models = models
        self._parameters = parameters

    def client(self, role: RoleName, context: Context) -> ChatCompletionClient:
        spec = self._models[role]
        if spec.provider == "offline":
            return self.scripted(OFFLINE_ROLES[role], spec, context.at(role=role))
        if spec.built_in:
            raise InputError(f"role {role!r}: {spec} is a model under test, not one that can play this role")
        return self._clients.client_for(spec, context.at(role=role), self._parameters)

    def scripted(
        self, answer: Callable[[Sequence[LLMMessage]], str], spec: ModelSpec, context: Context
    ) -> ChatCompletionClient:
        """A function in the seat of a model, recorded like any other."""
        return self._clients.wrap(ScriptedClient(answer), spec, context, self._parameters)
