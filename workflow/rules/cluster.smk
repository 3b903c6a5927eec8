# The cost of a run, before it starts. Nothing else of the workflow depends on it.
import shlex


# plans the same command line again; has no output, so that it always runs when requested
rule cost:
    resources:
        # a resource and not a param, so that another command line reruns nothing
        arguments=shlex.join(sys.argv[1:]),
    message:
        "Estimate the cost of the remaining jobs"
    shell:
        "python -m stele cluster cost -- {resources.arguments} 2> {log}"


localrules:
    cost,
