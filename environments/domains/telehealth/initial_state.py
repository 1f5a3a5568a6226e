"""Initial states for telehealth: a patient with a history, and four doctors with slots, some of them taken.

A doctor's name is unique in a state, so every doctor can be found. Specialties and places repeat, so an imprecise
search finds several doctors. All names are invented.
"""

import datetime as dt
from collections.abc import Sequence
from random import Random

from lawtrace.environments import spec as s

from .entities import CURRENT, ENTITIES
from .vocabulary import APPOINTMENT_REASONS, DOSAGES, MEDICATIONS, REVIEW_TEXTS

DOCTOR_NAMES = (
    "Ines Adeyemi",
    "Tomas Adeyemi",
    "Mirela Quist",
    "Oskar Quist",
    "Priya Vandermeer",
    "Levi Sandoval",
    "Hanne Okoro",
    "Bruno Castellan",
    "Yara Lindgren",
    "Emil Farouk",
)
SPECIALTIES = ("general medicine", "dermatology", "allergology", "cardiology", "orthopaedics")
LOCATIONS = ("Harbourtown", "Larchfield", "Meadowgate")
PATIENT_NAMES = ("Noor Bakker", "Joao Pereira", "Signe Holm", "Amara Diallo", "Felix Moreau")
REVIEWERS = ("Wen Li", "Greta Olsen", "Pavel Novak", "Salma Haddad", "Rory Kane", "Ada Fuchs")
CONCLUSIONS = (
    "All values as they should be.",
    "Mild irritation of the skin, to be watched.",
    "Vaccination given, no reaction.",
    "Rest for a week, then exercise again.",
)
DISEASES = ("thalassaemia trait", "familial high cholesterol", "coeliac disease")
ALLERGIES = ("birch pollen", "penicillin", "peanuts", "cat hair")
IMMUNIZATIONS = ("tetanus 2021", "influenza 2025", "measles 1994", "hepatitis B 2012")
FIRST_DAY = dt.date(2026, 1, 5).toordinal()
SLOT_MINUTES = 30


def populate(random: Random) -> s.State:
    """Four doctors with six slots each over the next two weeks; past, upcoming and cancelled appointments."""
    now = (FIRST_DAY + random.randrange(300)) * s.MINUTES_PER_DAY + random.randrange(8 * 60, 18 * 60)
    doctors = _doctors(random)
    slots = _slots(random, doctors, now)
    session = s.Row({"session_id": CURRENT, "authorized": True, "now": now})
    return s.State(
        {
            **dict.fromkeys(ENTITIES, ()),
            "doctors": doctors,
            "slots": slots,
            "appointments": _appointments(random, doctors, slots, now),
            "prescriptions": _prescriptions(random, doctors),
            "reviews": _reviews(random, doctors),
            "patient": (_patient(random),),
            "session": (session,),
        }
    )


def _doctors(random: Random) -> tuple[s.Row, ...]:
    numbers = random.sample(range(1_000, 10_000), 4)
    return tuple(
        s.Row(
            {
                "doctor_id": f"D-{number}",
                "name": name,
                "specialty": random.choice(SPECIALTIES),
                "location": random.choice(LOCATIONS),
            }
        )
        for number, name in zip(numbers, random.sample(DOCTOR_NAMES, 4), strict=True)
    )


def _slots(random: Random, doctors: Sequence[s.Row], now: int) -> tuple[s.Row, ...]:
    rows: list[s.Row] = []
    today = now // s.MINUTES_PER_DAY
    for doctor in doctors:
        days = random.sample(range(1, 15), 3)
        starts = [
            (today + day) * s.MINUTES_PER_DAY + half * 30 for day in days for half in random.sample(range(16, 34), 2)
        ]
        rows += [
            s.Row(
                {
                    "slot_id": f"S-{len(rows) + number:05d}",
                    "doctor_id": doctor.values["doctor_id"],
                    "start": start,
                    "end": start + SLOT_MINUTES,
                }
            )
            for number, start in enumerate(sorted(starts), 1)
        ]
    return tuple(rows)


def _appointments(random: Random, doctors: Sequence[s.Row], slots: Sequence[s.Row], now: int) -> tuple[s.Row, ...]:
    """Two past appointments, one upcoming, one cancelled; the upcoming one fills its slot."""
    past = sorted(now // s.MINUTES_PER_DAY - random.randint(10, 400) for _ in range(2))
    ahead, called_off = random.sample(range(len(slots)), 2)
    held = [
        (random.choice(doctors).values["doctor_id"], day * s.MINUTES_PER_DAY + random.randrange(16, 34) * 30)
        for day in past
    ]
    taken = [(slots[place].values["doctor_id"], slots[place].values["start"]) for place in (ahead, called_off)]
    statuses = ("completed", "completed", "confirmed", "cancelled")
    return tuple(
        s.Row(
            {
                "appointment_id": f"A-{number:05d}",
                "doctor_id": doctor,
                "date": start // s.MINUTES_PER_DAY,
                "time": start % s.MINUTES_PER_DAY,
                "reason": random.choice(APPOINTMENT_REASONS),
                "status": status,
                "conclusions": random.choice(CONCLUSIONS) if status == "completed" else None,
            }
        )
        for number, ((doctor, start), status) in enumerate(zip([*held, *taken], statuses, strict=True), 1)
    )


def _prescriptions(random: Random, doctors: Sequence[s.Row]) -> tuple[s.Row, ...]:
    return tuple(
        s.Row(
            {
                "prescription_request_id": f"R-{number:05d}",
                "medication_name": medication,
                "dosage": random.choice(DOSAGES),
                "status": status,
                "doctor_id": random.choice(doctors).values["doctor_id"],
            }
        )
        for number, (medication, status) in enumerate(
            zip(random.sample(MEDICATIONS, 3), ("approved", "declined", "pending"), strict=True), 1
        )
    )


def _reviews(random: Random, doctors: Sequence[s.Row]) -> tuple[s.Row, ...]:
    authors = [(doctor, name) for doctor in doctors for name in random.sample(REVIEWERS, random.randint(1, 2))]
    return tuple(
        s.Row(
            {
                "review_id": f"V-{number:05d}",
                "doctor_id": doctor.values["doctor_id"],
                "reviewer_name": name,
                "rating": random.randint(2, 5),
                "review_content": random.choice(REVIEW_TEXTS),
            }
        )
        for number, (doctor, name) in enumerate(authors, 1)
    )


def _patient(random: Random) -> s.Row:
    return s.Row(
        {
            "patient_id": CURRENT,
            "name": random.choice(PATIENT_NAMES),
            "date_of_birth": FIRST_DAY - random.randint(20 * 365, 80 * 365),
            "location": random.choice(LOCATIONS),
            "familial_genetic_diseases": tuple(random.sample(DISEASES, random.randint(0, 1))),
            "allergies": tuple(random.sample(ALLERGIES, random.randint(1, 2))),
            "medications": tuple(random.sample(MEDICATIONS, random.randint(0, 2))),
            "immunizations": tuple(random.sample(IMMUNIZATIONS, 2)),
        }
    )
