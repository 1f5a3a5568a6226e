"""Integrations with other software: over the Model Context Protocol (MCP), and with trainers (``training/``).

An environment as a server: ``judged_session.py`` is the session with its verdicts, ``mcp_server.py`` the server.

A guard in front of other servers: ``guarded_session.py`` decides and logs, ``mcp_guard.py`` passes messages on, and
``inner_server.py`` connects to the server.
"""
