"""The tasks of a file as an environment for reinforcement learning (docs/training.md).

``training_tasks.py`` is what all episodes share, ``task_environment.py`` one episode after the other, and
``verifiers_environment.py`` the environment of the library `verifiers`.
"""
