# Corpus + encoder -> vectors (temporary) -> exact search -> canonical TREC runs, all languages in one job.


# a collection that several benchmarks search is encoded once; its vectors are kept until the last search
until_searched = (lambda path: path) if plan.settings.config.keep_index else temp


rule encode_collection:
    input:
        unpack(plan.retrieval.collection_inputs),
    output:
        record=until_searched(plan.paths.vectors("record.json")),
        vectors=until_searched(plan.paths.vectors("vectors.npy")),
        ids=until_searched(plan.paths.vectors("ids.npy")),
    params:
        code=lambda w: code("retrieval.encode_collection", benchmark_code(w.benchmark)),
        encoding=lambda w: as_json(plan.retrieval.encodings(w.benchmark, w.model)),
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
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of_no_other("retrieve"),
    params:
        code=lambda w: code("retrieval.retrieve", benchmark_code(w.benchmark)),
        languages=lambda w: plan.rows.languages(row_of(w)),
        encoding=lambda w: as_json(plan.retrieval.encodings(w.benchmark, w.model)),
        calibration=lambda w: plan.retrieval.calibration(row_of(w), w.seeds),
        windows=lambda w: plan.retrieval.windows(row_of(w)),
        field=lambda w: plan.retrieval.field(row_of(w)),
        depth=lambda w: plan.data.benchmark(w.benchmark).depth,
        data=lambda w: assignments(plan.retrieval.data(w)),
        threads=plan.settings.sizes.threads,
        vectors=lambda w: flags({"vectors": plan.retrieval.vectors(w)}),
        keep=lambda w: flags({"keep_index": plan.retrieval.kept_index(w)}),
        state=plan.paths.state("retrieve/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Retrieve {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval retrieve --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} {params.calibration} --data {params.data}"
        " {params.vectors} {params.windows} {params.field} --depth {params.depth} --threads {params.threads} {params.keep} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"


# BM25: one job indexes and searches; k1 and b are given, or tuned for each language
rule bm25:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w))),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("bm25"),
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
        engine=lambda w: flags({"anserini": plan.rows.kind(row_of(w)).anserini}),
        threads=plan.settings.sizes.threads,
        state=plan.paths.state("bm25/{benchmark}/{model}/{setting}/{seeds}"),
    message:
        "Search {wildcards.benchmark} with {wildcards.model}, {wildcards.setting}"
    shell:
        "python -m stele retrieval bm25 --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --recipe {params.recipe:q} --data {params.data} {params.engine} --depth {params.depth}"
        " --threads {params.threads} --state {params.state} --code {params.code} --output {output.record} > {log} 2>&1"


# fuses the rankings of term matching and of an encoder; each fold's weight is chosen on the other folds' topics
rule fuse:
    input:
        unpack(lambda w: plan.rows.inputs(row_of(w), w.seeds)),
    output:
        record=plan.paths.results(
            "{benchmark}/{model}/{setting}/{seeds}/retrieval.json"
        ),
        weights=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/alpha.csv"),
    wildcard_constraints:
        benchmark=plan.rows.benchmarks_of("fuse"),
    params:
        code=lambda w: code("retrieval.fuse", benchmark_code(w.benchmark)),
        languages=lambda w: plan.rows.languages(row_of(w)),
        recipe=lambda w: as_json(plan.rows.kind(row_of(w)).recipe(row_of(w))),
        depth=lambda w: plan.data.benchmark(w.benchmark).depth,
        data=lambda w: assignments(plan.rows.kind(row_of(w)).data(row_of(w))),
        # the command reads this from the catalogue; as a param it makes a change rerun the job
        ignore_identical_ids=lambda w: plan.data.benchmark(
            w.benchmark
        ).ignore_identical_ids,
    message:
        "Fuse {wildcards.benchmark} of {wildcards.model} with term matching, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele retrieval fuse --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --term {input.term} --dense {input.dense} --data {params.data} --recipe {params.recipe:q}"
        " --depth {params.depth} --output {output.record} > {log} 2>&1"


# sentence pairs for a figure: their vectors projected to two dimensions
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
    wildcard_constraints:
        language="[A-Za-z0-9_-]+",
    params:
        code=code("retrieval.project"),
        encoding=lambda w: as_json(plan.retrieval.encodings("tatoeba", w.model)),
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


# learns, without translations, mean and deviation of an encoder's vectors per language, and a rotation per language pair
rule calibrate:
    input:
        encoder=lambda w: plan.finetuning.encoder(w.model, None, w.seeds),
        documents=lambda w: [*plan.calibration.documents(w.recipe).values()],
    output:
        record=plan.paths.calibration("{model}", "{recipe}", "{seeds}"),
    params:
        code=code("retrieval.calibrate"),
        recipe=lambda w: as_json(plan.calibration.recipe(w.recipe).given()),
        encoding=lambda w: as_json(
            plan.retrieval.encodings(plan.calibration.benchmarks(w.recipe)[0], w.model)
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
        encoder=plan.paths.finetuned("{model}", "{recipe}", "{seeds}"),
        data=lambda w: [*plan.finetuning.mining_data(w.training_set).values()],
    output:
        record=plan.paths.hard_negatives(
            "{model}", "{recipe}", "{training_set}", "{seeds}"
        ),
    wildcard_constraints:
        training_set="[a-z0-9_]+",
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


# encodes pairs of texts: questions with gold passages (for alignment and uniformity), or translations (to be found)
rule encode_pairs:
    input:
        unpack(plan.retrieval.pair_inputs),
    output:
        record=plan.paths.results("{benchmark}/{model}/{setting}/{seeds}/vectors.json"),
    params:
        code=lambda w: code("retrieval.encode_pairs", benchmark_code(w.benchmark)),
        languages=lambda w: plan.data.languages(w.benchmark),
        encoding=lambda w: as_json(plan.retrieval.encodings(w.benchmark, w.model)),
        data=lambda w: assignments(plan.retrieval.data(w)),
        threads=plan.settings.sizes.threads,
    message:
        "Encode the pairs of {wildcards.benchmark} with {wildcards.model}, {wildcards.setting} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " retrieval encode_pairs --benchmark {wildcards.benchmark} --languages {params.languages}"
        " --encoder {input.encoder} --encoding {params.encoding:q} --data {params.data} --threads {params.threads}"
        " --output {output.record} > {log} 2>&1"
