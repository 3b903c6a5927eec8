# The papers' claims: the results that they are judged by, at any scale, and the verdicts on what is there.


# imported where it is asked for: few runs do
rule claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda wildcards: import_module("stele.claims.plan").claim_results(
            plan, main=False
        ),
    message:
        "The results that the claims of the papers are judged by are here"


rule main_claim_results:
    input:
        context=plan.paths.results("tables/context.json"),
        results=lambda wildcards: import_module("stele.claims.plan").claim_results(
            plan, main=True
        ),
    message:
        "The results that the main claims of the papers are judged by are here"


# judges what is there, whatever that is; no output, so that it can be asked for at any time
rule claims:
    params:
        results=lambda wildcards: plan.settings.config.results_dir,
        papers=[str(Path(path).parent) for path in plan.tables.claims],
        into=plan.paths.results("claims"),
    message:
        "Judge the claims of the papers on the results that are there"
    shell:
        "python -m stele claims judge {params.results} --paper {params.papers} --into {params.into} 2> {log}"


localrules:
    claims,
    claim_results,
    main_claim_results,
