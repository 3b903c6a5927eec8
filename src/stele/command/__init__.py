"""The command line: groups of commands, arguments, and the worker that runs jobs."""
