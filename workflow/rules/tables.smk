# Specs + existing results -> tables (Markdown, LaTeX, CSV, HTML) and figures (SVG, PDF); all tables as one PDF.
RENDERED = ("tables/render/templates", "tables/render/bibliography.yaml")  # fact files


rule context:
    output:
        context=plan.paths.results("tables/context.json"),
    params:
        digest=lambda w: context_digest(plan),
        written=context_file(plan),  # Snakemake's main process writes it before the first job
    message:
        "List the rows that can be built and why others cannot"
    shell:
        "cp {params.written} {output.context}.part 2> {log} && mv {output.context}.part {output.context}"


rule table:
    input:
        unpack(plan.requested.table_inputs),
    output:
        md=plan.paths.results("tables/{paper}/table_{number}.md"),
        tex=plan.paths.results("tables/{paper}/table_{number}.tex"),
        csv=plan.paths.results("tables/{paper}/table_{number}.csv"),
        html=report(
            plan.paths.results("tables/{paper}/table_{number}.html"),
            caption="../report/caption.rst",
            category="{paper}",
            subcategory="Tables",
            labels={"table": "{number}"},
        ),
        record=plan.paths.results("tables/{paper}/table_{number}.json"),
    params:
        code=lambda w: code(
            "tables.table", data=(*RENDERED, *plan.requested.facts_of_tables(w.paper))
        ),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Render table {wildcards.number} of {wildcards.paper}"
    shell:
        "python -m stele tables table --spec {input.spec} --context {input.context} --results-dir {params.results}"
        " > {log} 2>&1"


rule figure:
    input:
        unpack(plan.requested.figure_inputs),
    output:
        svg=report(
            plan.paths.results("tables/{paper}/figure_{number}.svg"),
            caption="../report/caption.rst",
            category="{paper}",
            subcategory="Figures",
            labels={"figure": "{number}"},
        ),
        pdf=plan.paths.results("tables/{paper}/figure_{number}.pdf"),
    params:
        code=lambda w: code(
            "tables.figure", data=plan.requested.facts_of_tables(w.paper)
        ),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Draw figure {wildcards.number} of {wildcards.paper}"
    shell:
        "python -m stele tables figure --spec {input.spec} --context {input.context} --results-dir {params.results}"
        " --output {output.svg} {output.pdf} > {log} 2>&1"


rule card:
    input:
        unpack(plan.cards.inputs),
    output:
        md=plan.paths.results("cards/{model}.md"),
        html=report(
            plan.paths.results("cards/{model}.html"),
            caption="../report/caption.rst",
            category="Result cards",
            labels={"model": "{model}"},
        ),
        record=plan.paths.results("cards/{model}.json"),
    params:
        code=code("tables.card", data=("tables/render/templates", *PUBLISHED)),
        facts=lambda w: plan.cards.facts(w.model),
        user_data=lambda w: flags({"user_data": plan.cards.user_data(w.model)}),
    message:
        "Write the result card of {wildcards.model}"
    shell:
        "python -m stele tables card --results {input.results} {params.user_data} --output {output.md} {output.html}"
        " > {log} 2>&1"


rule adaptation_card:
    input:
        verdict=plan.paths.verdict,
    output:
        md=plan.paths.adaptation_card,
        html=report(
            plan.paths.results("card.html"),
            caption="../report/caption.rst",
            category="Adaptation",
            labels={"card": "adaptation"},
        ),
    params:
        code=code("tables.adaptation_card", data=("tables/render/templates",)),
    message:
        "Write the card of the adaptation"
    shell:
        "python -m stele tables adaptation_card --verdict {input.verdict} --output {output.md} {output.html} > {log} 2>&1"


rule cells:
    input:
        specs=list(map(str, plan.tables.specs.values())),
        context=plan.paths.results("tables/context.json"),
        tables=plan.tables.files(),
    output:
        svg=report(
            plan.paths.results("tables/cell_map.svg"),
            caption="../report/caption.rst",
            category="All papers",
            subcategory="Figures",
            labels={"figure": "all cells by state"},
        ),
        pdf=plan.paths.results("tables/cell_map.pdf"),
    params:
        code=code("tables.cells"),
        papers=list(map(str, plan.tables.folders.values())),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Draw the map of all cells by state"
    shell:
        "python -m stele tables cells --specs {params.papers} --context {input.context} --results-dir {params.results}"
        " --map {output.svg} {output.pdf} > {log} 2>&1"


# needs every table and figure, then renders them together in one Python process
rule all_tables:
    input:
        specs=list(map(str, plan.tables.specs.values())),
        context=plan.paths.results("tables/context.json"),
        # with the details of cells, which the papers' pages show, too
        tables=plan.tables.files("html"),
        figures=plan.figures.files(),
        statistics=lambda w: plan.requested.statistics(),
        claims=plan.tables.claims,
        corrections=plan.tables.corrections,
    output:
        md=plan.paths.results("tables/all_tables.md"),
        tex=plan.paths.results("tables/all_tables.tex"),
        bib=plan.paths.results("tables/all_tables.bib"),
        html=plan.paths.results("tables/all_tables.html"),
        pages=[
            plan.paths.results(f"tables/{paper}.html") for paper in plan.tables.folders
        ],
    params:
        code=code("tables.all_tables", data=RENDERED),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Render all tables together"
    shell:
        "python -m stele tables all_tables --spec {input.specs} --context {input.context} --results-dir {params.results}"
        " --figures {input.figures} > {log} 2>&1"


# the tables of today's encoders, of no paper: built only when requested
rule today_tables:
    input:
        specs=list(map(str, plan.tables_of_today.specs.values())),
        context=plan.paths.results("tables/context.json"),
        tables=plan.tables_of_today.files("html"),
        figures=plan.figures_of_today.drawn(),
    output:
        md=plan.paths.results("tables/today_tables.md"),
        tex=plan.paths.results("tables/today_tables.tex"),
        bib=plan.paths.results("tables/today_tables.bib"),
        html=plan.paths.results("tables/today_tables.html"),
        page=plan.paths.results("tables/today.html"),
    params:
        code=code("tables.all_tables", data=RENDERED),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Render the tables of today's encoders together"
    shell:
        "python -m stele tables all_tables --name today_tables --spec {input.specs} --context {input.context}"
        " --results-dir {params.results} --figures {input.figures} > {log} 2>&1"


rule all_tables_pdf:
    input:
        tex=rules.all_tables.output.tex,
        bib=rules.all_tables.output.bib,
        tables=plan.tables.files("tex"),
    output:
        pdf=report(
            plan.paths.results("tables/all_tables.pdf"),
            caption="../report/caption.rst",
            category="All papers",
            subcategory="Tables",
            labels={"table": "all"},
        ),
    params:
        code=code("tables.all_tables_pdf"),
    message:
        "Set all tables as one PDF, with the TeX of this machine"
    shell:
        "python -m stele tables all_tables_pdf --tex {input.tex} --output {output.pdf} > {log} 2>&1"


# reads all built files whole; has no output, so that it always runs when requested
rule verify:
    params:
        results=lambda w: plan.settings.config.results_dir,
        built=[plan.paths.work(""), plan.paths.resources("")],
    message:
        "Check every built file against its record"
    shell:
        "python -m stele tables verify --results-dir {params.results} --built {params.built} 2> {log}"


localrules:
    context,
    table,
    figure,
    card,
    adaptation_card,
    cells,
    all_tables,
    all_tables_pdf,
    today_tables,
    verify,
