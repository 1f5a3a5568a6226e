"""The rows of an ablation's variants, in the state of their folders."""

from lawtrace.runs.store.run_folder import NOT_MADE, RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.variants import VariantRow


def read_variants(folder: RunFolder) -> list[VariantRow]:
    """The variants of an ablation; one that is being made, and has verdicts, has not ended. Raises InputError."""

    def has_some(row: VariantRow) -> bool:
        return row.ended == NOT_MADE and folder.variant(row.number).verdicts.exists()

    rows = read_rows(folder.variants, VariantRow, empty=True)
    return [row.model_copy(update={"ended": None}) if has_some(row) else row for row in rows]
