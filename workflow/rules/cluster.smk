# The cost of a run, before it starts. Nothing else of the workflow depends on it.


# its own plan of the same command line, so that it is up to date whenever it is asked for: no output
rule cost:
    resources:
        # how this run was started is no param
        arguments=hooks.command_line(),
    message:
        "Estimate the cost of the remaining jobs"
    shell:
        "python -m stele cluster cost -- {resources.arguments} 2> {log}"


localrules:
    cost,
