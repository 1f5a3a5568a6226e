"""A comparison of grading profiles without the command line."""

from collections.abc import Sequence

from benchmarks.published.comparison import ProfileComparison
from benchmarks.published.grading import judge_attempts_published
from benchmarks.published.records import RecordedVerdict
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.choices import GradingProfile
from lawtrace.schemas.verdict_rows import PUBLISHED_PROFILES, Verdict


def compare_profiles(
    environment: Environment,
    tasks: Sequence[Task],
    attempts: Sequence[Attempt],
    recorded: Sequence[RecordedVerdict],
    sandbox: Sandbox,
) -> ProfileComparison:
    """Executed attempts under every profile, as `lawtrace grade --compare` judges them."""
    by_id = {task.id: task for task in tasks}
    verdicts: dict[GradingProfile, tuple[Verdict, ...]] = {
        "strict": tuple(judge(environment, by_id[attempt.answer.task], attempt) for attempt in attempts),
        **{
            profile: tuple(judge_attempts_published(by_id, attempts, sandbox, profile))
            for profile in PUBLISHED_PROFILES
        },
    }
    return ProfileComparison(environment, tuple(tasks), tuple(attempts), verdicts, tuple(recorded))
