"""One self-contained HTML file that shows a run: figures, tables, and a page for every task."""
