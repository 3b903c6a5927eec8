# Judged candidates + a scorer -> a canonical run, cross-validated within the job.


rule rerank:
    input:
        unpack(
            lambda w: plan.rows.kind(row_of(w)).pair_inputs(row_of(w), w.seeds, w.part)
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
        code=lambda w: code(
            "reranking.rerank",
            benchmark_code(w.benchmark),
            f"reranking.scorers.{plan.rows.kind(row_of(w)).recipe(row_of(w)).scorer}",
            data=plan.rows.kind(row_of(w)).code_data(row_of(w)),
        ),
        recipe=lambda w: as_json(plan.rows.kind(row_of(w)).recipe(row_of(w)).given()),
        start=lambda w: plan.rows.kind(row_of(w)).start(row_of(w), w.seeds, w.part),
        data=lambda w: assignments(plan.retrieval.data(w)),
        seed=lambda w: finetuning_seed(w.seeds),
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
        unpack(lambda w: plan.rows.inputs(row_of(w), w.seeds)),
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
