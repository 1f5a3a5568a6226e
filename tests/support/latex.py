"""Checks of LaTeX tables: compiled where there is a LaTeX, else by structure."""

import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["check_latex"]

_UNESCAPED = re.compile(r"(?<!\\)[$#_^~]")
_MATH = re.compile(r"\$\\?[a-z-]+\$|\$-\$")
DOCUMENT = r"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{body}\end{{document}}"


def check_latex(files: list[Path], folder: Path) -> None:
    """Fails if one of the tables would not compile with article and booktabs."""
    assert files
    for path in files:
        _check_structure(path.read_text(encoding="utf-8"))
    if pdflatex := shutil.which("pdflatex"):
        body = "\n".join(rf"\input{{{path.resolve()}}}\clearpage" for path in files)
        (folder / "all.tex").write_text(DOCUMENT.format(body=body), encoding="utf-8")
        command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]


def _check_structure(text: str) -> None:
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    begun = [name for line in lines for name in re.findall(r"\\begin\{(\w+)\}", line)]
    ended = [name for line in lines for name in re.findall(r"\\end\{(\w+)\}", line)]
    assert begun == ["table", "tabular"] == ended[::-1]
    (spec,) = re.findall(r"\\begin\{tabular\}\{@\{\}(.*)@\{\}\}", text)
    width = len(re.sub(r"p\{[^}]*\}", "p", spec))
    rows = [line for line in lines if line.endswith(r" \\")]
    assert rows
    for row in rows:
        bare = re.sub(r"\\[\\{}$&#%_]", "", row)
        assert bare.count("{") == bare.count("}"), row
        assert not _UNESCAPED.search(_MATH.sub("", bare)), row
        assert "%" not in bare, row
        spans = sum(int(size) - 1 for size in re.findall(r"\\multicolumn\{(\d+)\}", bare))
        assert bare.count("&") + 1 + spans == width, row
