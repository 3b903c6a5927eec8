# Corpus + encoder -> vectors (temporary) -> exact search -> canonical TREC runs, all languages in one job.


rule retrieve:
    input:
        unpack(plan.retrieve_input),
    output:
        record=plan.results("{benchmark}/{model}/{setting}/{seeds}/retrieval.json"),
    log:
        plan.log("retrieve/{benchmark}.{model}.{setting}.{seeds}"),
    conda:
        plan.torch_environment
    threads: plan.sizes["threads"]
    params:
        code=lambda w: code("retrieval.retrieve", *plan.benchmark_modules(w.benchmark)),
        languages=lambda w: plan.languages(w.benchmark),
        encoding=lambda w: as_json(plan.encoding(w.benchmark, w.model, w.setting)),
        depth=lambda w: plan.benchmark(w.benchmark)["depth"],
        data=lambda w: assignments(plan.retrieve_data(w)),
        threads=plan.sizes["threads"],
        keep=lambda w: plan.keep_index(w),
        state=plan.state("retrieve/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Retrieve {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele retrieval retrieve --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} --depth {params.depth}"
        " --threads {params.threads} {params.keep} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"


# what a figure draws of sentence pairs: their vectors in two dimensions
rule project:
    input:
        unpack(plan.project_input),
    output:
        points=plan.results(
            "tatoeba/{model}/{setting}/{seeds}/projection_{language}.csv"
        ),
        record=plan.results(
            "tatoeba/{model}/{setting}/{seeds}/projection_{language}.json"
        ),
    log:
        plan.log("project/{model}.{setting}.{seeds}.{language}"),
    wildcard_constraints:
        language="[A-Za-z0-9_-]+",
    conda:
        plan.torch_environment
    threads: plan.sizes["threads"]
    params:
        code=code("retrieval.project"),
        encoding=lambda w: as_json(plan.encoding("tatoeba", w.model, w.setting)),
        data=lambda w: assignments(plan.project_data(w)),
        threads=plan.sizes["threads"],
    message:
        "Project Tatoeba's pairs of {wildcards.language} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele retrieval project --language {wildcards.language} --encoder {input.encoder}"
        " --encoding {params.encoding:q} --data {params.data} --threads {params.threads}"
        " --output {output.points} > {log} 2>&1"
