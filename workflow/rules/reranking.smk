# Judged candidates + a scorer -> a canonical run, cross-validated within the job.


rule rerank:
    input:
        unpack(
            lambda w: plan.rows.kinds.get("reranked").pair_inputs(
                row_of(w), w.seeds, w.part
            )
        ),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/pairs/{part}/retrieval.json"
        ),
        epochs=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/pairs/{part}/epochs.csv"
        ),
    log:
        plan.paths.log("rerank/{benchmark}.{model}.{setting}.{seeds}.{part}"),
    benchmark:
        plan.paths.benchmark_file("rerank/{benchmark}.{model}.{setting}.{seeds}.{part}")
    wildcard_constraints:
        benchmark=plan.protocols.constraint("reranked"),
    conda:
        plan.sources.torch_environment
    threads: job_threads("rerank", plan)
    resources:
        **job_resources("rerank", plan),
    params:
        code=lambda w: code(
            "reranking.rerank",
            benchmark_code(w.benchmark),
            f"reranking.scorers.{plan.rows.kinds.get('reranked').recipe(row_of(w)).scorer}",
            data=plan.rows.kinds.get("reranked").code_data(row_of(w)),
        ),
        recipe=lambda w: plan.rows.kinds.get("reranked").as_json(row_of(w)),
        start=lambda w: plan.rows.kinds.get("reranked").start(
            row_of(w), w.seeds, w.part
        ),
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


# the pairs of languages of a row, each re-ranked by a job of its own
rule join_pairs:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w), w.seeds)),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
    log:
        plan.paths.log("join_pairs/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("join_pairs/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        benchmark=plan.protocols.constraint("reranked"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code("reranking.join_pairs"),
    message:
        "Join the pairs of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele reranking join_pairs --pairs {input.pairs} --output {output.record} > {log} 2>&1"


localrules:
    join_pairs,
