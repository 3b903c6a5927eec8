# Specs + whatever results exist -> tables (Markdown, LaTeX, CSV, HTML) and figures (SVG, PDF); all tables as one PDF.


rule context:
    output:
        context=plan.results("tables/context.json"),
    log:
        plan.log("context"),
    conda:
        "../../envs/data.yaml"
    params:
        digest=lambda w: context_digest(plan),
        written=context_file(plan),  # by the driver, before the first job
    message:
        "Write down which rows can be built and why the others cannot"
    shell:
        "cp {params.written} {output.context}.part 2> {log} && mv {output.context}.part {output.context}"


rule table:
    input:
        unpack(plan.table_input),
    output:
        md=plan.results("tables/{paper}/table_{number}.md"),
        tex=plan.results("tables/{paper}/table_{number}.tex"),
        csv=plan.results("tables/{paper}/table_{number}.csv"),
        html=report(
            plan.results("tables/{paper}/table_{number}.html"),
            category="Tables",
            subcategory="{paper}",
            labels={"table": "{number}"},
        ),
        record=plan.results("tables/{paper}/table_{number}.json"),
    log:
        plan.log("table/{paper}.{number}"),
    benchmark:
        plan.timing("table/{paper}.{number}")
    conda:
        "../../envs/data.yaml"
    params:
        code=code(
            "tables.table",
            "significance.fisher",
            "significance.t_test",
            data=("tables/render/templates", "tables/render/bibliography.yaml"),
        ),
        results=lambda w: plan.config.results_dir,
    message:
        "Render table {wildcards.number} of {wildcards.paper}"
    shell:
        "python -m stele tables table --spec {input.spec} --context {input.context} --results-dir {params.results}"
        " > {log} 2>&1"


rule figure:
    input:
        unpack(plan.figure_input),
    output:
        svg=report(
            plan.results("tables/{paper}/figure_{number}.svg"),
            category="Figures",
            subcategory="{paper}",
            labels={"figure": "{number}"},
        ),
        pdf=plan.results("tables/{paper}/figure_{number}.pdf"),
    log:
        plan.log("figure/{paper}.{number}"),
    benchmark:
        plan.timing("figure/{paper}.{number}")
    conda:
        "../../envs/data.yaml"
    params:
        code=code("tables.figure"),
        results=lambda w: plan.config.results_dir,
    message:
        "Draw figure {wildcards.number} of {wildcards.paper}"
    shell:
        "python -m stele tables figure --spec {input.spec} --context {input.context} --results-dir {params.results}"
        " --output {output.svg} {output.pdf} > {log} 2>&1"


rule cell_map:
    input:
        specs=list(map(str, plan.specs.values())),
        context=plan.results("tables/context.json"),
        tables=plan.all_tables(),
    output:
        svg=report(
            plan.results("tables/cell_map.svg"),
            category="Figures",
            subcategory="all papers",
            labels={"figure": "all cells by state"},
        ),
        pdf=plan.results("tables/cell_map.pdf"),
    log:
        plan.log("cell_map"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code("tables.cell_map"),
        papers=[f"paper_tables/{paper}" for paper in plan.config.papers],
        results=lambda w: plan.config.results_dir,
    message:
        "Draw the map of all cells by state"
    shell:
        "python -m stele tables cell_map --specs {params.papers} --context {input.context} --results-dir {params.results}"
        " --output {output.svg} {output.pdf} > {log} 2>&1"


# asks for every table and figure and then sets them together: one start of Python for all pages
rule all_tables:
    input:
        specs=list(map(str, plan.specs.values())),
        context=plan.results("tables/context.json"),
        tables=plan.all_tables(),
        figures=plan.all_figures(),
        statistics=lambda w: plan.all_statistics(),
    output:
        md=plan.results("tables/all_tables.md"),
        tex=plan.results("tables/all_tables.tex"),
        bib=plan.results("tables/all_tables.bib"),
        html=plan.results("tables/all_tables.html"),
        pages=[
            plan.results(f"tables/{paper}.html")
            for paper in dict.fromkeys(key.partition("/")[0] for key in plan.specs)
        ],
    log:
        plan.log("all_tables"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code(
            "tables.all_tables",
            "significance.fisher",
            "significance.t_test",
            data=("tables/render/templates", "tables/render/bibliography.yaml"),
        ),
        results=lambda w: plan.config.results_dir,
    message:
        "Set all tables together"
    shell:
        "python -m stele tables all_tables --spec {input.specs} --context {input.context} --results-dir {params.results}"
        " --figures {input.figures} > {log} 2>&1"


rule all_tables_pdf:
    input:
        tex=rules.all_tables.output.tex,
        bib=rules.all_tables.output.bib,
        tables=[path.removesuffix("md") + "tex" for path in plan.all_tables()],
    output:
        pdf=report(
            plan.results("tables/all_tables.pdf"),
            category="Tables",
            subcategory="all papers",
            labels={"table": "all"},
        ),
    log:
        plan.log("all_tables_pdf"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code("tables.all_tables_pdf"),
    message:
        "Set all tables as one PDF, with the TeX of this machine"
    shell:
        "python -m stele tables all_tables_pdf --tex {input.tex} --output {output.pdf} > {log} 2>&1"


# reads all that is there, whole; no output, so that it can be asked for at any time
rule verify:
    log:
        plan.log("verify"),
    conda:
        "../../envs/data.yaml"
    params:
        results=lambda w: plan.config.results_dir,
        built=[plan.work(""), plan.resources("")],
    message:
        "Check every file that was built against the record that was written with it"
    shell:
        "python -m stele tables verify --results-dir {params.results} --built {params.built} 2> {log}"


localrules:
    context,
    table,
    figure,
    cell_map,
    all_tables,
    all_tables_pdf,
    verify,
