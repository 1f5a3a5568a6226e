"""Searching for doctors, and reading and writing reviews."""

from lawtrace.environments.domains.telehealth.entities import DOCTORS, PATIENT, REVIEWS, SLOTS
from lawtrace.environments.domains.telehealth.tools.shared import (
    CURRENT,
    UNKNOWN_DOCTOR,
    blank,
    day_of,
    doctor_parameter,
    is_free,
)
from lawtrace.environments.domains.telehealth.vocabulary import REVIEW_TEXTS
from lawtrace.environments.spec import (
    DATE,
    INTEGER,
    INVALID_REQUEST,
    MINUTES_PER_DAY,
    TEXT,
    AnySampler,
    FieldValue,
    FromUser,
    Insert,
    NestedRows,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    RowVariable,
    Term,
    Tool,
    argument,
    contains_text,
    exists,
    if_given,
    is_blank,
    success_result,
    value_of,
)

keywords, location, date = argument("keywords"), argument("location"), argument("date")


def free_on_the_day(doctor: RowVariable, slot: RowVariable) -> Term:
    """The slot belongs to the doctor, is free, and is on the requested day if one is given."""
    on_the_day = (slot.start >= date * MINUTES_PER_DAY) & (slot.start < (date + 1) * MINUTES_PER_DAY)
    return (slot.doctor_id == doctor.doctor_id) & is_free(slot) & if_given(date, on_the_day)


SEARCH_DOCTORS = Tool(
    name="SearchDoctors",
    summary="Finds doctors. A filter that is not given is not applied.",
    phrases=Phrases(
        step=(
            'Search for the doctors[keywords: with the keywords "{keywords}"][location: at the location "{location}"]'
            "[date: free on the date {date}]."
        ),
        noun_phrase=(
            'the doctor found[keywords: with the keywords "{keywords}"][location: at the location "{location}"]'
            "[date: free on the date {date}]"
        ),
    ),
    parameters=(
        Parameter(
            "keywords",
            TEXT,
            "Part of the name or of the specialty of a doctor, in upper or lower case.",
            FromUser(AnySampler((FieldValue(DOCTORS, "name"), FieldValue(DOCTORS, "specialty"))), share=0.9),
            required=False,
        ),
        Parameter(
            "location",
            TEXT,
            "Part of the place where the doctor is, in upper or lower case.",
            FromUser(FieldValue(DOCTORS, "location"), share=0.4),
            required=False,
        ),
        Parameter(
            "date",
            DATE,
            "A day on which the doctor must have a free slot.",
            FromUser(FieldValue(SLOTS, "start", is_free, day_of), share=0.2),
            required=False,
        ),
    ),
    raises=(
        Raises(INVALID_REQUEST, "The 'date' is not in the format 'YYYY-MM-DD'."),
        Raises(INVALID_REQUEST, "The 'location' is blank.", if_given(location, is_blank(location), False)),
    ),
    results=(
        RowsResult(
            "doctors",
            "The doctors that were found.",
            DOCTORS,
            lambda d: (
                if_given(
                    keywords,
                    contains_text(d.name, keywords) | contains_text(d.specialty, keywords),
                )
                & if_given(location, contains_text(d.location, location))
                & if_given(date, exists(SLOTS, lambda s: free_on_the_day(d, s)))
            ),
            ("doctor_id", "name", "specialty", "location"),
            parts=(
                NestedRows(
                    "available_slots",
                    "The doctor's free slots, on the day asked for if one was.",
                    SLOTS,
                    free_on_the_day,
                    ("start", "end"),
                ),
            ),
        ),
    ),
)

LEAVE_REVIEW = Tool(
    name="LeaveReview",
    summary="Posts a review of a doctor under the user's name.",
    phrases=Phrases(
        step='Leave a review of {doctor_id}, rating {rating}, review "{review_content}".',
        outcome='A review of {doctor_id} has been left, rating {rating}, review "{review_content}".',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        Parameter("rating", INTEGER, "How good, from 1 to 5.", FromUser(OneOf((1, 2, 3, 4, 5)))),
        Parameter("review_content", TEXT, "The review.", FromUser(OneOf(REVIEW_TEXTS))),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        Raises(
            INVALID_REQUEST,
            "The 'rating' is not a whole number from 1 to 5.",
            (argument("rating") < 1) | (argument("rating") > 5),
        ),
        blank("review_content"),
    ),
    effects=(
        Insert(
            REVIEWS,
            {
                "doctor_id": argument("doctor_id"),
                "reviewer_name": value_of(PATIENT, lambda p: p.patient_id == CURRENT, "name", otherwise=""),
                "rating": argument("rating"),
                "review_content": argument("review_content"),
            },
        ),
    ),
    results=(success_result("Whether the review was posted."),),
)

VIEW_REVIEWS = Tool(
    name="ViewReviews",
    summary="Shows the reviews of a doctor.",
    phrases=Phrases(step="View the reviews of {doctor_id}."),
    parameters=(doctor_parameter("The doctor."),),
    raises=(UNKNOWN_DOCTOR,),
    results=(
        RowsResult(
            "reviews",
            "The reviews, oldest first.",
            REVIEWS,
            lambda r: r.doctor_id == argument("doctor_id"),
            ("reviewer_name", "rating", "review_content"),
        ),
    ),
)
