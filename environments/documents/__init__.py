"""One reader of documents, laws and decisions: files to lines, lines to trees."""
