"""Texts that telehealth users state: reasons, medications, messages, reviews. All invented; not medical advice."""

CONSULTATION_REASONS = (
    "a cough that will not go away",
    "pollen allergy",
    "back pain after gardening",
    "trouble falling asleep",
    "an itching rash",
    "a headache since Monday",
    "questions about my vitamins",
    "a sore knee",
)
APPOINTMENT_REASONS = (
    "routine checkup",
    "follow-up visit",
    "vaccination",
    "blood test",
    "skin examination",
    "travel advice",
)
MEDICATIONS = (
    "cetirizine",
    "ibuprofen",
    "omeprazole",
    "salbutamol",
    "hydrocortisone cream",
    "metformin",
    "vitamin D3",
    "lisinopril",
)
DOSAGES = (
    "5 mg once a day",
    "10 mg in the evening",
    "20 mg in the morning",
    "100 mg when needed",
    "twice a day for a week",
    "once a week",
)
MESSAGE_TEXTS = (
    "The cream has helped a little, shall I go on with it?",
    "I have had no fever since yesterday.",
    "May I go swimming again?",
    "The pain is worse in the morning than at night.",
    "Which side effects should I look out for?",
    "I forgot to mention that I am allergic to penicillin.",
)
REVIEW_TEXTS = (
    "Took the time to explain everything.",
    "Friendly, though the call started late.",
    "Clear advice and a quick answer.",
    "I would go there again.",
    "The answers were rather short.",
)
