from typing import Any

class Store:
    def get(self, key: str, default: Any = ...) -> Any: ...
    def set(self, key: str, value: Any) -> None: ...

class LimitExceededError(Exception):
    type: str
    message: str

def store() -> Store: ...
