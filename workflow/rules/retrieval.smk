# Corpus + encoder -> vectors (temporary) -> exact search -> canonical TREC runs, all languages in one job.


rule retrieve:
    input:
        unpack(plan.retrieve_input),
    output:
        record=plan.results("{benchmark}/{model}/{setting}/{seeds}/retrieval.json"),
    log:
        plan.log("retrieve/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.timing("retrieve/{benchmark}.{model}.{setting}.{seeds}")
    conda:
        plan.torch_environment
    threads: job_threads("retrieve", plan)
    resources:
        **job_resources("retrieve", plan),
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
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval retrieve --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} --depth {params.depth}"
        " --threads {params.threads} {params.keep} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"


# a lexical model: index and search in one job, k1 and b chosen in each language
rule bm25:
    input:
        unpack(plan.bm25_input),
    output:
        record=plan.results("{benchmark}/{model}/{setting}/{seeds}/retrieval.json"),
    log:
        plan.log("bm25/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.timing("bm25/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        model="|".join(plan.lexical_models),
    conda:
        "../../envs/data.yaml"
    threads: job_threads("bm25", plan)
    params:
        code=lambda w: code(
            "retrieval.bm25",
            *plan.benchmark_modules(w.benchmark),
            data=("catalogue/analyzers.yaml",),
        ),
        languages=lambda w: plan.languages(w.benchmark),
        recipe=lambda w: as_json(plan.bm25_recipe(w)),
        depth=lambda w: plan.benchmark(w.benchmark)["depth"],
        data=lambda w: assignments(plan.bm25_data(w)),
        engine=f"--anserini {plan.anserini}" if plan.anserini else "",
        threads=plan.sizes["threads"],
        state=plan.state("bm25/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Search {wildcards.benchmark} with {wildcards.model}, {wildcards.setting}"
    shell:
        "python -m stele retrieval bm25 --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --recipe {params.recipe:q} --data {params.data} {params.engine} --depth {params.depth}"
        " --threads {params.threads} --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


ruleorder: bm25 > retrieve


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
    benchmark:
        plan.timing("project/{model}.{setting}.{seeds}.{language}")
    wildcard_constraints:
        language="[A-Za-z0-9_-]+",
    conda:
        plan.torch_environment
    threads: job_threads("project", plan)
    resources:
        **job_resources("project", plan),
    params:
        code=code("retrieval.project"),
        encoding=lambda w: as_json(plan.encoding("tatoeba", w.model, w.setting)),
        data=lambda w: assignments(plan.project_data(w)),
        threads=plan.sizes["threads"],
    message:
        "Project Tatoeba's pairs of {wildcards.language} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval project --language {wildcards.language} --encoder {input.encoder}"
        " --encoding {params.encoding:q} --data {params.data} --threads {params.threads}"
        " --output {output.points} > {log} 2>&1"


# what a fine-tuned encoder finds for a training set's questions and is no answer: for a fine-tuning that takes it up
rule hard_negatives:
    input:
        unpack(plan.hard_negatives_input),
    output:
        record=plan.hard_negatives("{model}", "{recipe}", "{training_set}", "{seeds}"),
    log:
        plan.log("hard_negatives/{model}.{recipe}.{training_set}.{seeds}"),
    benchmark:
        plan.timing("hard_negatives/{model}.{recipe}.{training_set}.{seeds}")
    wildcard_constraints:
        training_set="[a-z0-9_]+",
    conda:
        plan.torch_environment
    threads: job_threads("hard_negatives", plan)
    resources:
        **job_resources("hard_negatives", plan),
    params:
        code=lambda w: code(
            "retrieval.hard_negatives",
            f"benchmarks.{plan.training_set(w.training_set)['module']}",
        ),
        module=lambda w: plan.training_set(w.training_set)["module"],
        depth=lambda w: plan.training_set(w.training_set)["mined"]["depth"],
        data=lambda w: assignments(plan.mining_data(w.training_set)),
        threads=plan.sizes["threads"],
        state=plan.state("hard_negatives/{model}/{recipe}/{training_set}/{seeds}"),
    message:
        "Mine hard negatives of {wildcards.training_set} with {wildcards.model}, {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval hard_negatives --training-set {params.module} --encoder {input.encoder}"
        " --data {params.data} --depth {params.depth} --threads {params.threads} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"


# for settings that look at vectors and not at rankings: a benchmark's questions and their gold passages
rule encode_pairs:
    input:
        unpack(plan.encode_pairs_input),
    output:
        record=plan.results("{benchmark}/{model}/{setting}/{seeds}/vectors.json"),
    log:
        plan.log("encode_pairs/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.timing("encode_pairs/{benchmark}.{model}.{setting}.{seeds}")
    conda:
        plan.torch_environment
    threads: job_threads("encode_pairs", plan)
    resources:
        **job_resources("encode_pairs", plan),
    params:
        code=lambda w: code(
            "retrieval.encode_pairs", *plan.benchmark_modules(w.benchmark)
        ),
        languages=lambda w: plan.languages(w.benchmark),
        encoding=lambda w: as_json(plan.encoding(w.benchmark, w.model, w.setting)),
        data=lambda w: assignments(plan.retrieve_data(w)),
        threads=plan.sizes["threads"],
    message:
        "Encode the pairs of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval encode_pairs --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} --threads {params.threads}"
        " --output {output.record} > {log} 2>&1"
