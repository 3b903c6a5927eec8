# Encoder + questions about paragraphs -> answers to a benchmark's questions.


rule answer:
    input:
        unpack(lambda wildcards: plan.rows.inputs(row_of(wildcards), wildcards.seeds)),
    output:
        record=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/answers.json"),
        epochs=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/epochs.csv"),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("answer"),
    params:
        code=lambda wildcards: code(
            "answering.answer",
            benchmark_code(wildcards.benchmark),
            *plan.rows.kind(row_of(wildcards)).modules(row_of(wildcards)),
        ),
        recipe=lambda wildcards: plan.rows.kind(row_of(wildcards)).as_json(
            row_of(wildcards)
        ),
        languages=lambda wildcards: plan.rows.languages(row_of(wildcards)),
        data=lambda wildcards: assignments(plan.retrieval.data(wildcards)),
        training_data=lambda wildcards: assignments(
            plan.rows.kind(row_of(wildcards)).training_data(row_of(wildcards))
        ),
        seed=lambda wildcards: finetuning_seed(wildcards.seeds),
        state=plan.paths.state("answer/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Answer the questions of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " answering answer --model {wildcards.model} --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --recipe {params.recipe:q} --data {params.data}"
        " --training-data {params.training_data} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
