# Run + judgments -> results/{benchmark}/{model}/{setting}.json, per-query scores beside it.


rule score:
    input:
        unpack(plan.scoring.inputs),
    output:
        result=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}.json"),
        queries=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/queries.parquet"
        ),
    log:
        plan.paths.log("score/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("score/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        benchmark=plan.protocols.other_than("parameters", "statistics"),
    conda:
        "../../envs/data.yaml"
    params:
        code=lambda w: code(
            "scoring.score",
            benchmark_code(w.benchmark),
            *metric_modules(plan.scoring.metrics(w)),
        ),
        metrics=lambda w: plan.scoring.metrics(w),
        # read by the command itself
        ranx_lines=lambda w: ranx_lines(plan.scoring.metrics(w)),
        ignore_identical_ids=lambda w: plan.data.benchmark(
            w.benchmark
        ).ignore_identical_ids,
        data=lambda w: assignments(plan.scoring.data(w)),
    message:
        "Score {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele scoring score {wildcards.benchmark} --run {input.retrieval} --model {wildcards.model}"
        " --setting {wildcards.setting} --seeds {wildcards.seeds} --metrics {params.metrics}"
        " --data {params.data} --queries {output.queries} --output {output.result} > {log} 2>&1"


rule count_parameters:
    input:
        lambda w: plan.rows.inputs(Row("parameters", w.model, "direct"), w.seeds)[
            "encoder"
        ],
    output:
        result=plan.paths.results("parameters/{model}/direct/{seeds}.json"),
    log:
        plan.paths.log("count_parameters/{model}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("count_parameters/{model}.{seeds}")
    conda:
        "../../envs/data.yaml"
    params:
        code=code("scoring.count_parameters"),
    message:
        "Count the parameters of {wildcards.model}"
    shell:
        "python -m stele scoring count_parameters --encoder {input} --model {wildcards.model} --seeds {wildcards.seeds}"
        " --output {output.result} > {log} 2>&1"


rule count_lengths:
    input:
        unpack(lambda w: plan.rows.kinds.get("statistics").length_inputs(w.dataset)),
    output:
        lengths=plan.paths.results("statistics/{dataset}/count/lengths_{language}.csv"),
        record=plan.paths.results("statistics/{dataset}/count/lengths_{language}.json"),
    log:
        plan.paths.log("count_lengths/{dataset}.{language}"),
    benchmark:
        plan.paths.benchmark_file("count_lengths/{dataset}.{language}")
    wildcard_constraints:
        language="[A-Za-z0-9]+",
    conda:
        plan.sources.torch_environment
    resources:
        **job_resources("count_lengths", plan),
    params:
        code=lambda w: code(
            "scoring.count_lengths", *plan.scoring.counting_modules(w.dataset)
        ),
        data=lambda w: assignments(plan.rows.kinds.get("statistics").records(w.dataset)),
    message:
        "Count the tokens of the documents of {wildcards.dataset}, {wildcards.language}"
    shell:
        "python -m stele scoring count_lengths --dataset {wildcards.dataset} --language {wildcards.language}"
        " --data {params.data} --tokenizer {input.tokenizer} --output {output.lengths} > {log} 2>&1"


rule count_dataset:
    input:
        unpack(lambda w: plan.rows.inputs(Row("statistics", w.dataset, "count"))),
    output:
        result=plan.paths.results("statistics/{dataset}/count.json"),
    log:
        plan.paths.log("count_dataset/{dataset}"),
    benchmark:
        plan.paths.benchmark_file("count_dataset/{dataset}")
    conda:
        "../../envs/data.yaml"
    params:
        code=lambda w: code(
            "scoring.count_dataset", *plan.scoring.counting_modules(w.dataset)
        ),
        data=lambda w: assignments(plan.rows.kinds.get("statistics").records(w.dataset)),
        lengths=lambda w: flags(
            {"lengths": plan.rows.kinds.get("statistics").lengths(w.dataset)}
        ),
    message:
        "Count what {wildcards.dataset} holds"
    shell:
        "python -m stele scoring count_dataset --dataset {wildcards.dataset} --data {params.data} {params.lengths}"
        " --output {output.result} > {log} 2>&1"


rule average:
    input:
        lambda w: plan.scoring.seed_results(w),
    output:
        result=plan.paths.results("{benchmark}/{model}/{setting}.json"),
    log:
        plan.paths.log("average/{benchmark}.{model}.{setting}"),
    benchmark:
        plan.paths.benchmark_file("average/{benchmark}.{model}.{setting}")
    wildcard_constraints:
        benchmark=plan.protocols.canonical_benchmark,
    conda:
        "../../envs/data.yaml"
    params:
        code=code("scoring.average"),
    message:
        "Average the seeds of {wildcards.benchmark}, {wildcards.model}, {wildcards.setting}"
    shell:
        "python -m stele scoring average --seeds {input} --output {output.result} > {log} 2>&1"


rule alias:
    input:
        result=lambda w: plan.paths.result(
            Row(w.benchmark, w.model, plan.protocols.canonical(w.benchmark, w.alias))
        ),
    output:
        result=plan.paths.results("{benchmark}/{model}/{alias}.json"),
    log:
        plan.paths.log("alias/{benchmark}.{model}.{alias}"),
    benchmark:
        plan.paths.benchmark_file("alias/{benchmark}.{model}.{alias}")
    wildcard_constraints:
        benchmark=plan.protocols.alias_benchmark,
        alias="[a-z0-9_]+",
    conda:
        "../../envs/data.yaml"
    message:
        "{output.result} is {input.result}"
    shell:
        "cp {input.result} {output.result} 2> {log}"


localrules:
    alias,
    average,
    count_parameters,
