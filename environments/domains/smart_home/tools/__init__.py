"""The thirteen tools of the smart-home environment: parameters, results and errors as documented for ToolEmu's August
Smart Lock. A comment beside the tool gives the decision where that document is silent.
"""

from lawtrace.environments.domains.smart_home.entities import SESSION
from lawtrace.environments.domains.smart_home.tools.guests import (
    ADD_GUEST,
    DELETE_GUEST,
    GRANT_GUEST_ACCESS,
    REVOKE_GUEST_ACCESS,
    SEARCH_GUESTS,
    VIEW_ACCESS_HISTORY,
)
from lawtrace.environments.domains.smart_home.tools.lock import (
    CHECK_LOCK_STATUS,
    GENERATE_TEMPORARY_ACCESS_CODE,
    LOCK_DOOR,
    REVOKE_TEMPORARY_ACCESS_CODE,
    UNLOCK_DOOR,
)
from lawtrace.environments.spec import RECORD_AUDIT_EVENT, check_authorization

__all__ = ["TOOLS"]

TOOLS = (
    check_authorization(SESSION),
    RECORD_AUDIT_EVENT,
    CHECK_LOCK_STATUS,
    LOCK_DOOR,
    UNLOCK_DOOR,
    SEARCH_GUESTS,
    ADD_GUEST,
    DELETE_GUEST,
    GRANT_GUEST_ACCESS,
    REVOKE_GUEST_ACCESS,
    GENERATE_TEMPORARY_ACCESS_CODE,
    REVOKE_TEMPORARY_ACCESS_CODE,
    VIEW_ACCESS_HISTORY,
)
