"""Documents: decisions from files to trees of headings and paragraphs, and which part each paragraph is."""
