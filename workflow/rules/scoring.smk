# Run + judgments -> results/{benchmark}/{model}/{setting}.json, per-query scores beside it.


rule score:
    input:
        unpack(plan.score_input),
    output:
        result=plan.results("{benchmark}/{model}/{setting}/{seeds}.json"),
        queries=plan.results("{benchmark}/{model}/{setting}/{seeds}/queries.parquet"),
    log:
        plan.log("score/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.timing("score/{benchmark}.{model}.{setting}.{seeds}")
    conda:
        "../../envs/data.yaml"
    params:
        code=lambda w: code(
            "scoring.score", *plan.scoring_modules(w.benchmark, w.setting)
        ),
        metrics=lambda w: plan.protocol(w.benchmark, w.setting)["metrics"],
        data=lambda w: assignments(plan.score_data(w)),
    message:
        "Score {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele scoring score {wildcards.benchmark} --run {input.retrieval} --model {wildcards.model}"
        " --setting {wildcards.setting} --seeds {wildcards.seeds} --metrics {params.metrics}"
        " --data {params.data} --queries {output.queries} --output {output.result} > {log} 2>&1"


rule count_parameters:
    input:
        lambda w: plan.encoder(w.model, pretraining_seed(w.seeds)),
    output:
        result=plan.results("parameters/{model}/direct/{seeds}.json"),
    log:
        plan.log("count_parameters/{model}.{seeds}"),
    benchmark:
        plan.timing("count_parameters/{model}.{seeds}")
    conda:
        "../../envs/data.yaml"
    params:
        code=code("scoring.count_parameters"),
    message:
        "Count the parameters of {wildcards.model}"
    shell:
        "python -m stele scoring count_parameters --encoder {input} --model {wildcards.model} --seeds {wildcards.seeds}"
        " --output {output.result} > {log} 2>&1"


ruleorder: count_parameters > score


rule count_dataset:
    input:
        unpack(plan.count_dataset_input),
    output:
        result=plan.results("statistics/{dataset}/count.json"),
    log:
        plan.log("count_dataset/{dataset}"),
    benchmark:
        plan.timing("count_dataset/{dataset}")
    conda:
        "../../envs/data.yaml"
    params:
        code=lambda w: code("scoring.count_dataset", f"scoring.statistics.{w.dataset}"),
        data=lambda w: assignments(plan.counted_data(w.dataset)),
    message:
        "Count what {wildcards.dataset} holds"
    shell:
        "python -m stele scoring count_dataset --dataset {wildcards.dataset} --data {params.data}"
        " --output {output.result} > {log} 2>&1"


rule average:
    input:
        lambda w: [
            plan.results(f"{w.benchmark}/{w.model}/{w.setting}/{s}.json")
            for s in plan.seeds(w.model)
        ],
    output:
        result=plan.results("{benchmark}/{model}/{setting}.json"),
    log:
        plan.log("average/{benchmark}.{model}.{setting}"),
    benchmark:
        plan.timing("average/{benchmark}.{model}.{setting}")
    wildcard_constraints:
        benchmark="(?!statistics/)[a-z0-9_]+",  # a dataset has no seeds
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
        result=lambda w: plan.results(
            f"{w.benchmark}/{w.model}/{plan.canonical_setting(w.benchmark, w.alias)}.json"
        ),
    output:
        result=plan.results("{benchmark}/{model}/{alias}.json"),
    log:
        plan.log("alias/{benchmark}.{model}.{alias}"),
    benchmark:
        plan.timing("alias/{benchmark}.{model}.{alias}")
    wildcard_constraints:
        benchmark="|".join(plan.aliases),
        alias="|".join(
            sorted({alias for names in plan.aliases.values() for alias in names})
        ),
    conda:
        "../../envs/data.yaml"
    message:
        "{output.result} is {input.result}"
    shell:
        "cp {input.result} {output.result} 2> {log}"


ruleorder: alias > average


localrules:
    alias,
    average,
    count_parameters,
