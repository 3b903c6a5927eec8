# Corpus + encoder -> vectors (temporary) -> exact search -> canonical TREC runs, all languages in one job.


# a collection that several benchmarks search is encoded once; its vectors lie there until the last search is done
until_searched = (lambda path: path) if plan.settings.config.keep_index else temp


rule encode_collection:
    input:
        unpack(plan.retrieval.collection_inputs),
    output:
        record=until_searched(plan.paths.vectors("record.json")),
        vectors=until_searched(plan.paths.vectors("vectors.npy")),
        ids=until_searched(plan.paths.vectors("ids.npy")),
    log:
        plan.paths.log(
            "encode_collection/{benchmark}.{model}.{setting}.{seeds}.{collection}"
        ),
    benchmark:
        plan.paths.benchmark_file(
            "encode_collection/{benchmark}.{model}.{setting}.{seeds}.{collection}"
        )
    conda:
        plan.sources.torch_environment
    threads: job_threads("encode_collection", plan)
    resources:
        **job_resources("encode_collection", plan),
    params:
        code=lambda w: code("retrieval.encode_collection", benchmark_code(w.benchmark)),
        encoding=lambda w: plan.retrieval.encoding_json(w.benchmark, w.model),
        data=lambda w: assignments(plan.retrieval.collection_data(w)),
        windows=lambda w: plan.retrieval.windows(row_of(w)),
        threads=plan.settings.sizes.threads,
        state=plan.paths.state(
            "encode_collection/{benchmark}/{model}/{setting}/{seeds}/{collection}"
        ),
    message:
        "Encode {wildcards.collection} of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval encode_collection --benchmark {wildcards.benchmark} --collection {wildcards.collection}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} {params.windows}"
        " --threads {params.threads} --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


rule retrieve:
    input:
        unpack(plan.retrieval.inputs),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
    log:
        plan.paths.log("retrieve/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("retrieve/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        benchmark=plan.protocols.default_of(
            "dense", "calibrated", "vectors", "parameters"
        ),
    conda:
        plan.sources.torch_environment
    threads: job_threads("retrieve", plan)
    resources:
        **job_resources("retrieve", plan),
    params:
        code=lambda w: code("retrieval.retrieve", benchmark_code(w.benchmark)),
        languages=lambda w: plan.retrieval.languages(w),
        encoding=lambda w: plan.retrieval.encoding_json(w.benchmark, w.model),
        calibration=lambda w: plan.retrieval.calibration(row_of(w), w.seeds),
        windows=lambda w: plan.retrieval.windows(row_of(w)),
        field=lambda w: plan.retrieval.field(row_of(w)),
        depth=lambda w: plan.data.benchmark(w.benchmark).depth,
        data=lambda w: assignments(plan.retrieval.data(w)),
        threads=plan.settings.sizes.threads,
        vectors=lambda w: flags({"vectors": plan.retrieval.vectors(w)}),
        keep=lambda w: option("--keep-index", plan.retrieval.kept_index(w)),
        state=plan.paths.state("retrieve/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Retrieve {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval retrieve --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} {params.calibration} --data {params.data}"
        " {params.vectors} {params.windows} {params.field} --depth {params.depth} --threads {params.threads} {params.keep} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"


# a lexical model: index and search in one job, k1 and b given or chosen in each language
rule bm25:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w))),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
    log:
        plan.paths.log("bm25/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("bm25/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        benchmark=plan.protocols.constraint("lexical", "tuned"),
    conda:
        "../../envs/data.yaml"
    threads: job_threads("bm25", plan)
    params:
        code=lambda w: code(
            "retrieval.bm25",
            benchmark_code(w.benchmark),
            data=("catalogue/analyzers.yaml",),
        ),
        languages=lambda w: plan.data.languages(w.benchmark),
        recipe=lambda w: as_json(plan.rows.kind(row_of(w)).recipe(row_of(w))),
        depth=lambda w: plan.data.benchmark(w.benchmark).depth,
        data=lambda w: assignments(plan.retrieval.data(w)),
        engine=option("--anserini", plan.rows.kinds.get("lexical").anserini),
        threads=plan.settings.sizes.threads,
        state=plan.paths.state("bm25/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Search {wildcards.benchmark} with {wildcards.model}, {wildcards.setting}"
    shell:
        "python -m stele retrieval bm25 --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --recipe {params.recipe:q} --data {params.data} {params.engine} --depth {params.depth}"
        " --threads {params.threads} --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


# the ranking of term matching and that of an encoder, a weight for each fold of topics chosen on the others
rule fuse:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w), w.seeds)),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
        weights=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/alpha.csv"),
    log:
        plan.paths.log("fuse/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("fuse/{benchmark}.{model}.{setting}.{seeds}")
    wildcard_constraints:
        benchmark=plan.protocols.constraint("fused"),
    conda:
        "../../envs/data.yaml"
    params:
        code=lambda w: code("retrieval.fuse", benchmark_code(w.benchmark)),
        languages=lambda w: plan.rows.languages(row_of(w)),
        recipe=lambda w: as_json(plan.rows.kind(row_of(w)).recipe(row_of(w))),
        depth=lambda w: plan.data.benchmark(w.benchmark).depth,
        data=lambda w: assignments(plan.rows.kind(row_of(w)).data(row_of(w))),
        folds=option("--folds", plan.rows.kinds.get("fused").folds),
    message:
        "Fuse {wildcards.benchmark} of {wildcards.model} with term matching, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele retrieval fuse --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --term {input.term} --dense {input.dense} --data {params.data} --recipe {params.recipe:q} {params.folds}"
        " --depth {params.depth} --output {output.record} > {log} 2>&1"


# what a figure draws of sentence pairs: their vectors in two dimensions
rule project:
    input:
        unpack(plan.retrieval.projection_inputs),
    output:
        points=plan.paths.results(
            "tatoeba/{model}/{setting}/{seeds}/projection_{language}.csv"
        ),
        record=plan.paths.results(
            "tatoeba/{model}/{setting}/{seeds}/projection_{language}.json"
        ),
    log:
        plan.paths.log("project/{model}.{setting}.{seeds}.{language}"),
    benchmark:
        plan.paths.benchmark_file("project/{model}.{setting}.{seeds}.{language}")
    wildcard_constraints:
        language="[A-Za-z0-9_-]+",
    conda:
        plan.sources.torch_environment
    threads: job_threads("project", plan)
    resources:
        **job_resources("project", plan),
    params:
        code=code("retrieval.project"),
        encoding=lambda w: plan.retrieval.encoding_json("tatoeba", w.model),
        calibration=lambda w: plan.retrieval.calibration(projected(w), w.seeds),
        data=lambda w: assignments(plan.retrieval.projection_data(w)),
        threads=plan.settings.sizes.threads,
    message:
        "Project Tatoeba's pairs of {wildcards.language} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval project --language {wildcards.language} --encoder {input.encoder}"
        " --encoding {params.encoding:q} {params.calibration} --data {params.data} --threads {params.threads}"
        " --output {output.points} > {log} 2>&1"


# mean and deviation of an encoder's vectors in each language, and the rotation of each pair, without translations
rule calibrate:
    input:
        unpack(plan.calibration.inputs),
    output:
        record=plan.paths.calibration("{model}", "{recipe}", "{seeds}"),
    log:
        plan.paths.log("calibrate/{model}.{recipe}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("calibrate/{model}.{recipe}.{seeds}")
    conda:
        plan.sources.torch_environment
    threads: job_threads("calibrate", plan)
    resources:
        **job_resources("calibrate", plan),
    params:
        code=code("retrieval.calibrate"),
        recipe=lambda w: as_json(plan.calibration.recipe(w.recipe).given()),
        encoding=lambda w: plan.retrieval.encoding_json(
            plan.retrieval.calibrated_benchmark(w.recipe), w.model
        ),
        documents=lambda w: assignments(plan.calibration.documents(w.recipe)),
        pairs=lambda w: plan.calibration.pairs(w.recipe),
        seed=lambda w: finetuning_seed(w.seeds),
        state=plan.paths.state("calibrate/{model}/{recipe}/{seeds}"),
    message:
        "Calibrate the vectors of {wildcards.model} across languages, {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval calibrate --model {wildcards.model} --encoder {input.encoder} --encoding {params.encoding:q}"
        " --documents {params.documents} --pairs {params.pairs} --recipe {params.recipe:q} --seed {params.seed}"
        " --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


# mine hard negatives with a fine-tuned encoder, for the next fine-tuning round
rule hard_negatives:
    input:
        unpack(plan.finetuning.mining_inputs),
    output:
        record=plan.paths.hard_negatives(
            "{model}", "{recipe}", "{training_set}", "{seeds}"
        ),
    log:
        plan.paths.log("hard_negatives/{model}.{recipe}.{training_set}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file(
            "hard_negatives/{model}.{recipe}.{training_set}.{seeds}"
        )
    wildcard_constraints:
        training_set="[a-z0-9_]+",
    conda:
        plan.sources.torch_environment
    threads: job_threads("hard_negatives", plan)
    resources:
        **job_resources("hard_negatives", plan),
    params:
        code=lambda w: code(
            "retrieval.hard_negatives",
            f"benchmarks.{plan.data.training_set(w.training_set).module}",
        ),
        module=lambda w: plan.data.training_set(w.training_set).module,
        depth=lambda w: plan.data.training_set(w.training_set).mined.depth,
        data=lambda w: assignments(plan.finetuning.mining_data(w.training_set)),
        threads=plan.settings.sizes.threads,
        state=plan.paths.state("hard_negatives/{model}/{recipe}/{training_set}/{seeds}"),
    message:
        "Mine hard negatives of {wildcards.training_set} with {wildcards.model}, {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval hard_negatives --training-set {params.module} --encoder {input.encoder}"
        " --data {params.data} --depth {params.depth} --threads {params.threads} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"


# texts that belong together: questions and gold passages, whose vectors are looked at, or translations, to be found
rule encode_pairs:
    input:
        unpack(plan.retrieval.pair_inputs),
    output:
        record=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/vectors.json"),
    log:
        plan.paths.log("encode_pairs/{benchmark}.{model}.{setting}.{seeds}"),
    benchmark:
        plan.paths.benchmark_file("encode_pairs/{benchmark}.{model}.{setting}.{seeds}")
    conda:
        plan.sources.torch_environment
    threads: job_threads("encode_pairs", plan)
    resources:
        **job_resources("encode_pairs", plan),
    params:
        code=lambda w: code("retrieval.encode_pairs", benchmark_code(w.benchmark)),
        languages=lambda w: plan.data.languages(w.benchmark),
        encoding=lambda w: plan.retrieval.encoding_json(w.benchmark, w.model),
        data=lambda w: assignments(plan.retrieval.data(w)),
        threads=plan.settings.sizes.threads,
    message:
        "Encode the pairs of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval encode_pairs --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} --threads {params.threads}"
        " --output {output.record} > {log} 2>&1"
