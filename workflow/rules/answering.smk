# Encoder + questions about paragraphs -> answers to a benchmark's questions.


rule answer:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w), w.seeds)),
    output:
        record=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/answers.json"),
        epochs=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/epochs.csv"),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("answer"),
    params:
        code=lambda w: code(
            "answering.answer",
            benchmark_code(w.benchmark),
            *plan.rows.kind(row_of(w)).modules(row_of(w)),
        ),
        recipe=lambda w: as_json(plan.rows.kind(row_of(w)).recipe(row_of(w)).given()),
        languages=lambda w: plan.rows.languages(row_of(w)),
        data=lambda w: assignments(plan.retrieval.data(w)),
        training_data=lambda w: assignments(
            plan.rows.kind(row_of(w)).training_data(row_of(w))
        ),
        seed=lambda w: finetuning_seed(w.seeds),
        state=plan.paths.state("answer/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Answer the questions of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " answering answer --model {wildcards.model} --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --recipe {params.recipe:q} --data {params.data}"
        " --training-data {params.training_data} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
