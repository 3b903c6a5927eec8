# Run + judgments -> results/{benchmark}/{model}/{setting}.json, per-query scores beside it.


rule score:
    input:
        unpack(plan.scoring.inputs),
    output:
        result=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}.json"),
        queries=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/queries.parquet"
        ),
    wildcard_constraints:
        benchmark=plan.rows.scored_benchmarks,
    params:
        code=lambda wildcards: code(
            "scoring.score",
            benchmark_code(wildcards.benchmark),
            *metric_modules(plan.scoring.metrics(wildcards)),
        ),
        metrics=lambda wildcards: plan.scoring.metrics(wildcards),
        ranx_lines=lambda wildcards: ranx_lines(plan.scoring.metrics(wildcards)),
        # the command reads these from the catalogue; as params they make a change rerun the job
        ignore_identical_ids=lambda wildcards: plan.data.benchmark(
            wildcards.benchmark
        ).ignore_identical_ids,
        same_questions=lambda wildcards: plan.scoring.same_questions(wildcards),
        data=lambda wildcards: assignments(plan.scoring.data(wildcards)),
    message:
        "Score {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele scoring score {wildcards.benchmark} --run {input.retrieval} --model {wildcards.model}"
        " --setting {wildcards.setting} --seeds {wildcards.seeds} --metrics {params.metrics}"
        " --data {params.data} --queries {output.queries} --output {output.result} > {log} 2>&1"


rule count_parameters:
    input:
        lambda wildcards: plan.rows.inputs(
            RunKey("parameters", wildcards.model, "direct"), wildcards.seeds
        )["encoder"],
    output:
        result=plan.paths.results("parameters/{model}/direct/{seeds}.json"),
    params:
        code=code("scoring.count_parameters"),
    message:
        "Count the parameters of {wildcards.model}"
    shell:
        "python -m stele scoring count_parameters --encoder {input} --model {wildcards.model} --seeds {wildcards.seeds}"
        " --output {output.result} > {log} 2>&1"


rule count_lengths:
    input:
        unpack(
            lambda wildcards: plan.scoring.counting(wildcards).length_inputs(
                wildcards.dataset
            )
        ),
    output:
        lengths=plan.paths.results("statistics/{dataset}/count/lengths_{language}.csv"),
        record=plan.paths.results("statistics/{dataset}/count/lengths_{language}.json"),
    wildcard_constraints:
        language="[A-Za-z0-9]+",
    params:
        code=lambda wildcards: code(
            "scoring.count_lengths", *plan.scoring.counting_modules(wildcards.dataset)
        ),
        data=lambda wildcards: assignments(
            plan.scoring.counting(wildcards).records(wildcards.dataset)
        ),
    message:
        "Count the tokens of the documents of {wildcards.dataset}, {wildcards.language}"
    shell:
        "python -m stele scoring count_lengths --dataset {wildcards.dataset} --language {wildcards.language}"
        " --data {params.data} --tokenizer {input.tokenizer} --output {output.lengths} > {log} 2>&1"


rule count_dataset:
    input:
        unpack(
            lambda wildcards: plan.rows.inputs(
                RunKey("statistics", wildcards.dataset, "count")
            )
        ),
    output:
        result=plan.paths.results("statistics/{dataset}/count.json"),
    params:
        code=lambda wildcards: code(
            "scoring.count_dataset", *plan.scoring.counting_modules(wildcards.dataset)
        ),
        data=lambda wildcards: assignments(
            plan.scoring.counting(wildcards).records(wildcards.dataset)
        ),
        lengths=lambda wildcards: flags(
            {"lengths": plan.scoring.counting(wildcards).lengths(wildcards.dataset)}
        ),
    message:
        "Count the queries, passages and judgments of {wildcards.dataset}"
    shell:
        "python -m stele scoring count_dataset --dataset {wildcards.dataset} --data {params.data} {params.lengths}"
        " --output {output.result} > {log} 2>&1"


rule average:
    input:
        lambda wildcards: plan.scoring.seed_results(wildcards),
    output:
        result=plan.paths.results("{benchmark}/{model}/{setting}.json"),
    wildcard_constraints:
        benchmark=plan.rows.averaged_benchmarks,
    params:
        code=code("scoring.average"),
    message:
        "Average the seeds of {wildcards.benchmark}, {wildcards.model}, {wildcards.setting}"
    shell:
        "python -m stele scoring average --seeds {input} --output {output.result} > {log} 2>&1"


rule alias:
    input:
        result=lambda wildcards: plan.paths.result(
            RunKey(
                wildcards.benchmark,
                wildcards.model,
                plan.protocols.canonical(wildcards.benchmark, wildcards.alias),
            )
        ),
    output:
        result=plan.paths.results("{benchmark}/{model}/{alias}.json"),
    wildcard_constraints:
        benchmark=plan.rows.alias_benchmarks,
        alias="[a-z0-9_]+",
    message:
        "Copy {input.result} to its short name {output.result}"
    shell:
        "cp {input.result} {output.result} 2> {log}"


localrules:
    alias,
    average,
    count_parameters,
