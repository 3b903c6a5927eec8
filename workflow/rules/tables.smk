# Table spec + whatever results exist -> Markdown, LaTeX, CSV.


rule context:
    output:
        context=plan.results("tables/context.json"),
    log:
        plan.log("context"),
    conda:
        "../../envs/data.yaml"
    params:
        context=lambda w: as_json(plan.table_context()),
    message:
        "Write down which rows can be built and why the others cannot"
    shell:
        "printf '%s\\n' {params.context:q} > {output.context} 2> {log}"


rule table:
    input:
        unpack(plan.table_input),
    output:
        md=plan.results("tables/{paper}/table_{number}.md"),
        tex=plan.results("tables/{paper}/table_{number}.tex"),
        csv=plan.results("tables/{paper}/table_{number}.csv"),
    log:
        plan.log("table/{paper}.{number}"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code("tables.table", data=("tables/templates",)),
        results=lambda w: plan.config.results_dir,
    message:
        "Render table {wildcards.number} of {wildcards.paper}"
    shell:
        "python -m stele tables table --spec {input.spec} --context {input.context} --results-dir {params.results}"
        " --output-md {output.md} --output-tex {output.tex} --output-csv {output.csv} > {log} 2>&1"


rule all_tables:
    default_target: True
    input:
        plan.all_tables(),


localrules:
    context,
    table,
    all_tables,
