"""The vocabulary for declaring environments.

- Tools: `Tool`, `Parameter`. Sources of arguments: `FromUser`, `FromLookup`, `FromTrace`. Refusals: `Raises`, `Fails`.
- Effects: `Insert`, `InsertEach`, `Update`, `Delete`. Results: `ValueResult`, `KeyResult`, `RowsResult`, `NestedRows`.
- Wording: `Phrases`, `PhrasesByArgument`.
- State: `Entity`, `Field`, `Row`, `State`; `Fact`, what the law turns on. Types: `TEXT`, `MONEY`, `Choice`, ...
- Samplers, which draw the values that users state: `Amount`, `OneOf`, `FieldValue`, ...
- Terms, for conditions and values: `argument`, `exists`, `value_of`, ...
- Time: `Clock`, and the terms `NOW`, `CURRENT_MOMENT` and `TODAY`.
"""

from lawtrace.environments.spec.clock import Clock as Clock
from lawtrace.environments.spec.clock import starts_at as starts_at
from lawtrace.environments.spec.compliance import AUDIT_LOG as AUDIT_LOG
from lawtrace.environments.spec.compliance import INVALID_REQUEST as INVALID_REQUEST
from lawtrace.environments.spec.compliance import RECORD_AUDIT_EVENT as RECORD_AUDIT_EVENT
from lawtrace.environments.spec.compliance import check_authorization as check_authorization
from lawtrace.environments.spec.compliance import pending_events as pending_events
from lawtrace.environments.spec.compliance import session_entity as session_entity
from lawtrace.environments.spec.compliance import session_value as session_value
from lawtrace.environments.spec.declaration import Environment as Environment
from lawtrace.environments.spec.effects import Delete as Delete
from lawtrace.environments.spec.effects import Insert as Insert
from lawtrace.environments.spec.effects import InsertEach as InsertEach
from lawtrace.environments.spec.effects import KeyResult as KeyResult
from lawtrace.environments.spec.effects import NestedRows as NestedRows
from lawtrace.environments.spec.effects import RowsResult as RowsResult
from lawtrace.environments.spec.effects import Update as Update
from lawtrace.environments.spec.effects import ValueResult as ValueResult
from lawtrace.environments.spec.effects import success_result as success_result
from lawtrace.environments.spec.expressions import SUCCEEDED as SUCCEEDED
from lawtrace.environments.spec.expressions import RowVariable as RowVariable
from lawtrace.environments.spec.expressions import Term as Term
from lawtrace.environments.spec.kit import NOT_FOUND as NOT_FOUND
from lawtrace.environments.spec.kit import blank as blank
from lawtrace.environments.spec.kit import change as change
from lawtrace.environments.spec.kit import field_of as field_of
from lawtrace.environments.spec.kit import has as has
from lawtrace.environments.spec.kit import is_named as is_named
from lawtrace.environments.spec.kit import key as key
from lawtrace.environments.spec.kit import lookup as lookup
from lawtrace.environments.spec.kit import option as option
from lawtrace.environments.spec.kit import register as register
from lawtrace.environments.spec.kit import show as show
from lawtrace.environments.spec.kit import show_row as show_row
from lawtrace.environments.spec.kit import stated as stated
from lawtrace.environments.spec.kit import table as table
from lawtrace.environments.spec.kit import tables_of as tables_of
from lawtrace.environments.spec.kit import tools_of as tools_of
from lawtrace.environments.spec.kit import unknown as unknown
from lawtrace.environments.spec.samplers import NO_ARGUMENTS as NO_ARGUMENTS
from lawtrace.environments.spec.samplers import Amount as Amount
from lawtrace.environments.spec.samplers import AnySampler as AnySampler
from lawtrace.environments.spec.samplers import DayAfter as DayAfter
from lawtrace.environments.spec.samplers import DayBefore as DayBefore
from lawtrace.environments.spec.samplers import Digits as Digits
from lawtrace.environments.spec.samplers import EachField as EachField
from lawtrace.environments.spec.samplers import FieldsOf as FieldsOf
from lawtrace.environments.spec.samplers import FieldValue as FieldValue
from lawtrace.environments.spec.samplers import FiniteSampler as FiniteSampler
from lawtrace.environments.spec.samplers import HoursFromNow as HoursFromNow
from lawtrace.environments.spec.samplers import OneOf as OneOf
from lawtrace.environments.spec.samplers import Sampler as Sampler
from lawtrace.environments.spec.samplers import Several as Several
from lawtrace.environments.spec.samplers import UnusedValue as UnusedValue
from lawtrace.environments.spec.samplers import WordOf as WordOf
from lawtrace.environments.spec.samplers import WordsOf as WordsOf
from lawtrace.environments.spec.state import Entity as Entity
from lawtrace.environments.spec.state import Fact as Fact
from lawtrace.environments.spec.state import Field as Field
from lawtrace.environments.spec.state import Row as Row
from lawtrace.environments.spec.state import State as State
from lawtrace.environments.spec.terms import CURRENT_MOMENT as CURRENT_MOMENT
from lawtrace.environments.spec.terms import NOW as NOW
from lawtrace.environments.spec.terms import TODAY as TODAY
from lawtrace.environments.spec.terms import any_item as any_item
from lawtrace.environments.spec.terms import apply as apply
from lawtrace.environments.spec.terms import argument as argument
from lawtrace.environments.spec.terms import choose as choose
from lawtrace.environments.spec.terms import constant as constant
from lawtrace.environments.spec.terms import contains_text as contains_text
from lawtrace.environments.spec.terms import count_of as count_of
from lawtrace.environments.spec.terms import exists as exists
from lawtrace.environments.spec.terms import fresh_key as fresh_key
from lawtrace.environments.spec.terms import if_given as if_given
from lawtrace.environments.spec.terms import is_blank as is_blank
from lawtrace.environments.spec.terms import is_empty as is_empty
from lawtrace.environments.spec.terms import is_given as is_given
from lawtrace.environments.spec.terms import is_unknown as is_unknown
from lawtrace.environments.spec.terms import total_of as total_of
from lawtrace.environments.spec.terms import value_of as value_of
from lawtrace.environments.spec.tools import Fails as Fails
from lawtrace.environments.spec.tools import FromLookup as FromLookup
from lawtrace.environments.spec.tools import FromTrace as FromTrace
from lawtrace.environments.spec.tools import FromUser as FromUser
from lawtrace.environments.spec.tools import Parameter as Parameter
from lawtrace.environments.spec.tools import Phrases as Phrases
from lawtrace.environments.spec.tools import PhrasesByArgument as PhrasesByArgument
from lawtrace.environments.spec.tools import Raises as Raises
from lawtrace.environments.spec.tools import Tool as Tool
from lawtrace.environments.spec.types import BOOLEAN as BOOLEAN
from lawtrace.environments.spec.types import DATE as DATE
from lawtrace.environments.spec.types import INTEGER as INTEGER
from lawtrace.environments.spec.types import MINUTES_PER_DAY as MINUTES_PER_DAY
from lawtrace.environments.spec.types import MOMENT as MOMENT
from lawtrace.environments.spec.types import MONEY as MONEY
from lawtrace.environments.spec.types import TEXT as TEXT
from lawtrace.environments.spec.types import TEXTS as TEXTS
from lawtrace.environments.spec.types import TIME as TIME
from lawtrace.environments.spec.types import Choice as Choice
from lawtrace.environments.spec.types import ListOf as ListOf
from lawtrace.environments.spec.types import ObjectOf as ObjectOf
from lawtrace.environments.spec.types import Pattern as Pattern
from lawtrace.environments.spec.types import Record as Record
from lawtrace.environments.spec.types import Value as Value
from lawtrace.environments.spec.types import ValueType as ValueType
from lawtrace.environments.spec.types import WrongFormat as WrongFormat
from lawtrace.environments.spec.types import WrongType as WrongType
