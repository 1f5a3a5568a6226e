"""Integrations with other software: over the Model Context Protocol (MCP), and with trainers (``training/``).

An environment as a server: ``judged_session.py`` is the session with its verdicts, ``mcp_server.py`` the server.

A guard in front of other servers: ``guarded_session.py`` decides and logs, with ``imported_tools.py`` and
``guard_log.py``; ``mcp_guard.py`` passes messages on, ``inner_server.py`` connects to the server, and
``guard_server.py`` is the process.
"""
