"""The commands and the run kind of the legal benchmark."""

from lawtrace.runs.plugins import Command, Group, Plugin

PLUGIN = Plugin(
    commands={
        "legal": Group(
            "Benchmark legal agents on data-protection decisions.",
            {
                "check": Command(
                    "lawtrace.runs.legal.cli.legal_check:check_dataset",
                    "Check a dataset: contents, unusable rows, baselines without a model.",
                ),
                "run": Command(
                    "lawtrace.runs.legal.cli.legal_run:run", "Answer all questions in every cell of the grid."
                ),
                "ingest": Command(
                    "lawtrace.runs.legal.cli.legal_ingest:ingest_decision",
                    "Turn a decision into a case with citable chunks.",
                ),
                "import": Command(
                    "lawtrace.runs.legal.cli.legal_import:import_task", "Turn a task of another benchmark into a case."
                ),
                "twins": Command(
                    "lawtrace.runs.legal.cli.legal_twins:ask_twins", "Write pairs of questions that differ in one fact."
                ),
            },
        )
    },
    run_kinds={"lawtrace.legal_recipe/1": "lawtrace.runs.legal.cli.legal_run:LEGAL_RUNS"},
)
