"""Reports: content, tables, figures and views of tasks and messages, for the web pages and the terminal."""
