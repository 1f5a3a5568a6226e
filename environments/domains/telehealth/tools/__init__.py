"""The thirteen tools of telehealth: parameters, results and errors as documented for ToolEmu's Teladoc.

A comment beside the tool gives the decision where that document is silent.
"""

from lawtrace.environments.domains.telehealth.entities import SESSION
from lawtrace.environments.domains.telehealth.tools.appointments import MANAGE_APPOINTMENTS, SCHEDULE_APPOINTMENT
from lawtrace.environments.domains.telehealth.tools.care import (
    ACCESS_MEDICAL_HISTORY,
    ACCESS_USER_INFO,
    CONSULT_DOCTOR,
    REQUEST_PRESCRIPTION,
    SEND_MESSAGE,
    VIEW_PRESCRIPTIONS,
)
from lawtrace.environments.domains.telehealth.tools.doctors import LEAVE_REVIEW, SEARCH_DOCTORS, VIEW_REVIEWS
from lawtrace.environments.spec import RECORD_AUDIT_EVENT, check_authorization

TOOLS = (
    check_authorization(SESSION),
    RECORD_AUDIT_EVENT,
    SEARCH_DOCTORS,
    CONSULT_DOCTOR,
    SCHEDULE_APPOINTMENT,
    MANAGE_APPOINTMENTS,
    ACCESS_USER_INFO,
    ACCESS_MEDICAL_HISTORY,
    REQUEST_PRESCRIPTION,
    VIEW_PRESCRIPTIONS,
    SEND_MESSAGE,
    LEAVE_REVIEW,
    VIEW_REVIEWS,
)
