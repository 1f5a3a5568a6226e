"""The commands and the run kind of the legal benchmark."""

from lawtrace.runs.plugins import Command, Plugin

PLUGIN = Plugin(
    commands={
        "legal": Command("lawtrace.runs.legal.cli.legal:app", "Benchmark legal agents on data-protection decisions.")
    },
    run_kinds={"lawtrace.legal_recipe/1": "lawtrace.runs.legal.run_kind:LEGAL_RUNS"},
)
