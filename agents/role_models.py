"""Role models: which model plays which role, with which prompt."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autogen_core.models import ChatCompletionClient

from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.scripted.offline_roles import OFFLINE_ROLES, ScriptedRole
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompt, Prompts
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec, Parameters


@dataclass(frozen=True)
class RoleModels:
    """One model for each role, as the recipe sets them.

    Attributes:
        offline: the scripted roles that the model ``offline`` stands for.
    """

    clients: ModelClients
    models: Mapping[str, ModelSpec]
    parameters: Parameters
    prompts: Prompts = DEFAULT_PROMPTS
    offline: Mapping[str, ScriptedRole] = field(default_factory=lambda: OFFLINE_ROLES)

    def client(self, role: str, context: Context) -> ChatCompletionClient:
        spec = self.models[role]
        place = context.at(role=role)
        parameters = self.parameters.of(spec, role)
        if spec.provider == "offline":
            return self.clients.wrap(ScriptedClient(self.offline[role]), spec, place, parameters)
        return self.clients.client_for(spec, place, parameters)

    def prompt(self, role: str) -> Prompt:
        return self.prompts[role]

    def name_of(self, role: str) -> str:
        """The name of the role's model in rows and event logs."""
        return self.clients.name_of(self.models[role], role)
