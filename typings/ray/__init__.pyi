"""What lawtrace uses of Ray, an extra."""

from collections.abc import Callable
from typing import Any

from ray import exceptions as exceptions

def init(
    address: str | None = ...,
    *,
    num_cpus: int | None = ...,
    include_dashboard: bool | None = ...,
    log_to_driver: bool = ...,
    logging_level: str = ...,
) -> object: ...
def shutdown() -> None: ...
def is_initialized() -> bool: ...
def put(value: object) -> Any: ...
def get(reference: Any) -> Any: ...
def remote(*, num_cpus: float = ..., max_retries: int = ...) -> Callable[[Callable[..., object]], Any]: ...
