# Transfer sets: training queries of a target language without annotations (Shi et al., section 4.2).


# a transfer set from a Wikipedia: titles as queries, their articles, and negatives that BM25 finds
rule title_queries:
    input:
        documents=lambda w: plan.corpora.documents("wikipedia", w.part),
    output:
        record=plan.paths.transfer_set("title_queries", "{recipe}", "{part}"),
    params:
        code=code("retrieval.title_queries", data=("catalogue/analyzers.yaml",)),
        recipe=lambda w: as_json(plan.transfer.titles(w.recipe).given()),
        seed=plan.settings.sizes.seed,
        state=plan.paths.state("title_queries/{recipe}/{part}"),
    message:
        "Make queries from the titles of the Wikipedia of {wildcards.part}, {wildcards.recipe}"
    shell:
        "python -m stele retrieval title_queries --language {wildcards.part} --documents {input.documents}"
        " --recipe {params.recipe:q} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"


# fine-tunes on translated pairs a model that writes a query for a passage of its language
rule finetune_generator:
    input:
        generator=lambda w: plan.paths.checkpoint(plan.transfer.model(w.recipe, w.part)),
        data=lambda w: [*plan.transfer.translations(w.recipe, w.part).values()],
    output:
        record=plan.paths.generator("{recipe}", "{part}"),
    params:
        code=lambda w: code(
            "finetuning.finetune_generator",
            f"benchmarks.{plan.transfer.generator(w.recipe, w.part).training_set.module}",
        ),
        model=lambda w: plan.transfer.model(w.recipe, w.part),
        recipe=lambda w: as_json(plan.transfer.generator(w.recipe, w.part).given()),
        training=lambda w: assignments(plan.transfer.translations(w.recipe, w.part)),
        seed=plan.settings.sizes.seed,
        state=plan.paths.state("finetune_generator/{recipe}/{part}"),
    message:
        "Fine-tune a query generator in {wildcards.part}, {wildcards.recipe}"
    shell:
        "python -m stele --gpus {resources.gpus} --cpus {threads}"
        " finetuning finetune_generator --model {params.model} --generator {input.generator}"
        " --recipe {params.recipe:q} --training {params.training} --seed {params.seed} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"


# a transfer set from a test collection: a generator writes queries for its windows
rule generate_queries:
    input:
        generator=lambda w: plan.paths.generator(
            plan.transfer.generator_of(w.recipe), w.part
        ),
        data=lambda w: [*plan.transfer.documents(w.recipe, w.part).values()],
    output:
        record=plan.paths.transfer_set("generate_queries", "{recipe}", "{part}"),
    params:
        code=lambda w: code(
            "retrieval.generate_queries",
            benchmark_code(plan.transfer.benchmark(w.recipe, w.part)),
        ),
        benchmark=lambda w: plan.transfer.benchmark(w.recipe, w.part),
        windows=lambda w: plan.transfer.windows(w.recipe, w.part),
        recipe=lambda w: as_json(plan.transfer.generated(w.recipe).given()),
        data=lambda w: assignments(plan.transfer.documents(w.recipe, w.part)),
        seed=plan.settings.sizes.seed,
        state=plan.paths.state("generate_queries/{recipe}/{part}"),
    message:
        "Generate queries for the documents of {params.benchmark}, {wildcards.recipe}"
    shell:
        "python -m stele --gpus {resources.gpus} --cpus {threads}"
        " retrieval generate_queries --benchmark {params.benchmark} --language {wildcards.part}"
        " --generator {input.generator} --data {params.data} --windows {params.windows:q} --recipe {params.recipe:q}"
        " --seed {params.seed} --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"
