"""Integrations with other software: an environment served over the Model Context Protocol (MCP).

``judged_session.py`` is the session with its verdicts, ``mcp_server.py`` the server.
"""
