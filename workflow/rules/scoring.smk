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
        code=lambda w: code(
            "scoring.score",
            benchmark_code(w.benchmark),
            *metric_modules(plan.protocols.protocol(w).metrics),
        ),
        metrics=lambda w: plan.protocols.protocol(w).metrics,
        ranx_lines=lambda w: ranx_lines(plan.protocols.protocol(w).metrics),
        # the command reads these from the catalogue; as params they make a change rerun the job
        ignore_identical_ids=lambda w: plan.data.benchmark(
            w.benchmark
        ).ignore_identical_ids,
        same_questions=lambda w: plan.scoring.same_questions(w),
        data=lambda w: assignments(plan.scoring.data(w)),
    message:
        "Score {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele scoring score {wildcards.benchmark} --run {input.retrieval} --model {wildcards.model}"
        " --setting {wildcards.setting} --seeds {wildcards.seeds} --metrics {params.metrics}"
        " --data {params.data} --queries {output.queries} --output {output.result} > {log} 2>&1"


rule count_parameters:
    input:
        lambda w: plan.rows.inputs(RunKey("parameters", w.model, "direct"), w.seeds)[
            "encoder"
        ],
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
        unpack(lambda w: plan.scoring.counting(w).length_inputs(w.dataset)),
    output:
        lengths=plan.paths.results("statistics/{dataset}/count/lengths_{language}.csv"),
        record=plan.paths.results("statistics/{dataset}/count/lengths_{language}.json"),
    wildcard_constraints:
        language="[A-Za-z0-9]+",
    params:
        code=lambda w: code(
            "scoring.count_lengths", *plan.scoring.counting_modules(w.dataset)
        ),
        data=lambda w: assignments(plan.scoring.counting(w).records(w.dataset)),
    message:
        "Count the tokens of the documents of {wildcards.dataset}, {wildcards.language}"
    shell:
        "python -m stele scoring count_lengths --dataset {wildcards.dataset} --language {wildcards.language}"
        " --data {params.data} --tokenizer {input.tokenizer} --output {output.lengths} > {log} 2>&1"


rule count_dataset:
    input:
        unpack(lambda w: plan.rows.inputs(RunKey("statistics", w.dataset, "count"))),
    output:
        result=plan.paths.results("statistics/{dataset}/count.json"),
    params:
        code=lambda w: code(
            "scoring.count_dataset", *plan.scoring.counting_modules(w.dataset)
        ),
        data=lambda w: assignments(plan.scoring.counting(w).records(w.dataset)),
        lengths=lambda w: flags(
            {"lengths": plan.scoring.counting(w).lengths(w.dataset)}
        ),
    message:
        "Count the queries, passages and judgments of {wildcards.dataset}"
    shell:
        "python -m stele scoring count_dataset --dataset {wildcards.dataset} --data {params.data} {params.lengths}"
        " --output {output.result} > {log} 2>&1"


rule average:
    input:
        lambda w: plan.scoring.seed_results(w),
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
        result=lambda w: plan.paths.result(
            RunKey(
                w.benchmark,
                w.model,
                plan.protocols.canonical(w.benchmark, w.alias),
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
