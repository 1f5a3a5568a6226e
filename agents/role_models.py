"""Role models: which model plays which role, with which prompt."""

from collections.abc import Mapping
from typing import Protocol

from autogen_core.models import ChatCompletionClient

from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES, ScriptedRole
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompt, Prompts
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec


class RoleModels(Protocol):
    """The client and the prompt of each role."""

    def client(self, role: str, context: Context) -> ChatCompletionClient: ...

    def prompt(self, role: str) -> Prompt: ...

    def name_of(self, role: str) -> str:
        """The name of the role's model in rows and event logs."""
        ...


class ConfiguredRoleModels:
    """One model for each role, as the recipe sets them.

    Args:
        offline: the scripted roles that the model ``offline`` stands for.
    """

    def __init__(
        self,
        clients: ModelClients,
        models: Mapping[str, ModelSpec],
        parameters: ModelParameters,
        prompts: Prompts = DEFAULT_PROMPTS,
        offline: Mapping[str, ScriptedRole] = OFFLINE_ROLES,
    ) -> None:
        self._clients = clients
        self._models = models
        self._parameters = parameters
        self._prompts = prompts
        self._offline = offline

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        spec = self._models[role]
        place = context.at(role=role)
        if spec.provider == "offline":
            return self._clients.wrap(ScriptedClient(self._offline[role]), spec, place, self._parameters)
        return self._clients.client_for(spec, place, self._parameters)

    def prompt(self, role: str) -> Prompt:
        return self._prompts[role]

    def name_of(self, role: str) -> str:
        return self._clients.name_of(self._models[role], role)
