# What a run will cost, before it starts, and what its jobs took, afterwards. Nothing else of the workflow depends on it.


# its own plan of the same command line, so that it is up to date whenever it is asked for: no output
rule cost:
    resources:
        # how this run was started is no param
        arguments=command_line(),
    message:
        "Estimate what is still to be built"
    shell:
        "python -m stele cluster cost -- {resources.arguments} 2> {log}"


# times are no result: no output, so that nothing can be made from them, and every run of the rule writes them anew
rule usage:
    params:
        logs=plan.paths.logs,
        csv=plan.paths.results("usage.csv"),
    message:
        "Write down what every job took, against what it requested"
    shell:
        "python -m stele cluster usage --logs {params.logs} --output {params.csv} 2> {log}"


localrules:
    cost,
    usage,
