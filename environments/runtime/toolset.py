"""The tools of an environment as a program in the jail finds them: one object, typed and documented as declared."""

from functools import lru_cache
from typing import cast

from lawtrace.environments.events import Json
from lawtrace.environments.runtime.documentation import call_schemas, docstring, result_schema
from lawtrace.environments.runtime.session import REFUSED_BY_SHIELD
from lawtrace.environments.sandbox import Toolset, ToolSignature
from lawtrace.environments.spec.declaration import Environment


@lru_cache(maxsize=64)
def toolset(environment: Environment, *, guarded: bool = False) -> Toolset:
    """The same object for the same environment, so that a worker is told of it once.

    Args:
        environment: whose tools.
        guarded: whether a guard may refuse calls; then its exception is one more that programs know.
    """
    schemas = call_schemas(environment)
    faces = {
        tool.name: ToolSignature(
            parameters=cast("dict[str, Json]", schemas[tool.name]["properties"]),
            required=tuple(parameter.name for parameter in tool.parameters if parameter.required),
            returns=result_schema(tool),
            about=docstring(tool),
        )
        for tool in environment.tools.values()
    }
    exceptions = (*environment.exceptions, REFUSED_BY_SHIELD) if guarded else environment.exceptions
    return Toolset(environment.object_name, faces, exceptions, environment.summary)
