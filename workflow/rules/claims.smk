# The papers' claims: the results that they need, at any scale, and the verdicts on the existing results.


# the module is imported only when this rule is planned, since few runs need it
rule claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda w: import_module("stele.claims.plan").claim_results(
            plan, main=False
        ),
    message:
        "All results for judging the papers' claims exist"


rule main_claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda w: import_module("stele.claims.plan").claim_results(
            plan, main=True
        ),
    message:
        "All results for judging the papers' main claims exist"


# judges the existing results; has no output, so that it always runs when requested
rule claims:
    params:
        results=lambda w: plan.settings.config.results_dir,
        papers=plan.tables.papers_with_claims,
        into=plan.paths.results("claims"),
    message:
        "Judge the papers' claims on the existing results"
    shell:
        "python -m stele claims judge {params.results} --paper {params.papers} --into {params.into} 2> {log}"


localrules:
    claims,
    claim_results,
    main_claim_results,
