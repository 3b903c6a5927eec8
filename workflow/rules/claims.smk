# The papers' claims: the results that they are judged by, at any scale, and the verdicts on what is there.


# imported where it is asked for: few runs do
rule claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda wildcards: import_module("stele.claims.plan").claim_results(
            plan, main=False
        ),
    message:
        "All results for judging the papers' claims exist"


rule main_claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda wildcards: import_module("stele.claims.plan").claim_results(
            plan, main=True
        ),
    message:
        "All results for judging the papers' main claims exist"


# judges what is there, whatever that is; no output, so that it can be asked for at any time
rule claims:
    params:
        results=lambda wildcards: plan.settings.config.results_dir,
        papers=[str(Path(path).parent) for path in plan.tables.claims],
        into=plan.paths.results("claims"),
    message:
        "Judge the papers' claims on the existing results"
    shell:
        "python -m stele claims judge {params.results} --paper {params.papers} --into {params.into} 2> {log}"


localrules:
    claims,
    claim_results,
    main_claim_results,
