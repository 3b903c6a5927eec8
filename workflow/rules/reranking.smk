# Judged candidates + a scorer -> a canonical run, cross-validated within the job.


rule rerank:
    input:
        unpack(
            lambda wildcards: plan.rows.kind(row_of(wildcards)).pair_inputs(
                row_of(wildcards), wildcards.seeds, wildcards.part
            )
        ),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/pairs/{part}/retrieval.json"
        ),
        epochs=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/pairs/{part}/epochs.csv"
        ),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("rerank"),
    params:
        code=lambda wildcards: code(
            "reranking.rerank",
            benchmark_code(wildcards.benchmark),
            f"reranking.scorers.{plan.rows.kind(row_of(wildcards)).recipe(row_of(wildcards)).scorer}",
            data=plan.rows.kind(row_of(wildcards)).code_data(row_of(wildcards)),
        ),
        recipe=lambda wildcards: plan.rows.kind(row_of(wildcards)).as_json(
            row_of(wildcards)
        ),
        start=lambda wildcards: plan.rows.kind(row_of(wildcards)).start(
            row_of(wildcards), wildcards.seeds, wildcards.part
        ),
        data=lambda wildcards: assignments(plan.retrieval.data(wildcards)),
        seed=lambda wildcards: finetuning_seed(wildcards.seeds),
        state=plan.paths.state("rerank/{benchmark}/{model}/{setting}/{seeds}/{part}"),
    message:
        "Re-rank {wildcards.benchmark}, {wildcards.part}, with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " reranking rerank --model {wildcards.model} --benchmark {wildcards.benchmark} --languages {wildcards.part}"
        " {params.start} --recipe {params.recipe:q} --data {params.data} --seed {params.seed}"
        " --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


# joins a row's language pairs, each of which one job re-ranked
rule join_pairs:
    input:
        unpack(lambda wildcards: plan.rows.inputs(row_of(wildcards), wildcards.seeds)),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("rerank"),
    params:
        code=code("reranking.join_pairs"),
    message:
        "Join the pairs of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele reranking join_pairs --pairs {input.pairs} --output {output.record} > {log} 2>&1"


localrules:
    join_pairs,
