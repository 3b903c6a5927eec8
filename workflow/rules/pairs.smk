# Documents and the knowledge base -> training examples, one mining method a file.


rule mine:
    input:
        documents=lambda w: plan.pairs.documents(w.method, w.part),
        tokenizer=plan.paths.checkpoint("{model}"),
    output:
        record=plan.paths.work("pairs/{method}/{model}/{part}/record.json"),
    log:
        plan.paths.log("mine/{method}.{model}.{part}"),
    benchmark:
        plan.paths.benchmark_file("mine/{method}.{model}.{part}")
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["mine"]),
    conda:
        plan.sources.torch_environment
    resources:
        **job_resources("mine", plan),
    params:
        code=lambda w: code("pairs.mine", *plan.mining.modules(w.method)),
        recipe=lambda w: as_json(plan.mining.recipe(w.method).given()),
        most=lambda w: option(
            "--most", plan.text_sizes.most_examples(w.method, w.model, w.part)
        ),
        seed=lambda w: plan.settings.sizes.seed,
    message:
        "Mine {wildcards.method} examples in {wildcards.part} with the tokenizer of {wildcards.model}"
    shell:
        "python -m stele pairs mine --recipe {params.recipe:q} --language {wildcards.part} --documents {input.documents}"
        " --tokenizer {input.tokenizer} {params.most} --seed {params.seed} --output {output.record} > {log} 2>&1"


rule knowledge_pairs:
    input:
        unpack(plan.pairs.knowledge_inputs),
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    log:
        plan.paths.log("knowledge_pairs/{method}.{part}"),
    benchmark:
        plan.paths.benchmark_file("knowledge_pairs/{method}.{part}")
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources(
            "knowledge_pairs",
            plan,
            lambda w: plan.corpora.dump_mb(*plan.mining.part_codes(w.method, w.part)),
        ),
    params:
        code=lambda w: code(
            "pairs.knowledge_pairs",
            *plan.mining.modules(w.method),
        ),
        recipe=lambda w: as_json(plan.mining.text_recipe(w.method)),
        knowledge_base=lambda w: assignments(plan.pairs.knowledge_bases(w)),
        documents=lambda w: assignments(plan.pairs.knowledge_documents(w)),
        seed=lambda w: plan.settings.sizes.seed,
    message:
        "Mine {wildcards.method} pairs in {wildcards.part} from the knowledge base"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs knowledge_pairs --recipe {params.recipe:q} --part {wildcards.part}"
        " --knowledge-base {params.knowledge_base} --documents {params.documents}"
        " --memory-mb {resources.mem_mb} --threads {threads} --seed {params.seed} --output {output.record} > {log} 2>&1"


rule tokenise:
    input:
        pairs=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
        tokenizer=plan.paths.checkpoint("{model}"),
    output:
        record=plan.paths.work("pairs/{method}/{model}/{part}/record.json"),
    log:
        plan.paths.log("tokenise/{method}.{model}.{part}"),
    benchmark:
        plan.paths.benchmark_file("tokenise/{method}.{model}.{part}")
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
    conda:
        plan.sources.torch_environment
    resources:
        **job_resources("tokenise", plan),
    params:
        code=code("pairs.tokenise"),
        recipe=lambda w: as_json(plan.mining.token_recipe(w.method)),
    message:
        "Tokenise the {wildcards.method} pairs of {wildcards.part} for {wildcards.model}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs tokenise --recipe {params.recipe:q} --pairs {input.pairs} --tokenizer {input.tokenizer}"
        " --output {output.record} > {log} 2>&1"


rule section_pairs:
    input:
        unpack(plan.pairs.section_inputs),
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    log:
        plan.paths.log("section_pairs/{method}.{part}"),
    benchmark:
        plan.paths.benchmark_file("section_pairs/{method}.{part}")
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources(
            "section_pairs",
            plan,
            lambda w: plan.corpora.dump_mb(*plan.mining.part_codes(w.method, w.part)),
        ),
    params:
        code=lambda w: code("pairs.section_pairs", *plan.mining.modules(w.method)),
        recipe=lambda w: as_json(plan.mining.text_recipe(w.method)),
        knowledge_base=lambda w: assignments(plan.pairs.knowledge_bases(w)),
        documents=lambda w: assignments(plan.pairs.knowledge_documents(w)),
        vectors=lambda w: assignments(plan.pairs.vectors(w)),
        seed=lambda w: plan.settings.sizes.seed,
    message:
        "Pair the sections of {wildcards.part} whose headings mean the same, by {wildcards.method}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs section_pairs --recipe {params.recipe:q} --part {wildcards.part}"
        " --knowledge-base {params.knowledge_base} --documents {params.documents} --vectors {params.vectors}"
        " --seed {params.seed} --output {output.record} > {log} 2>&1"


rule tokenise_sections:
    input:
        pairs=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
        tokenizer=plan.paths.checkpoint("{model}"),
    output:
        record=plan.paths.work("pairs/{method}/{model}/{part}/record.json"),
    log:
        plan.paths.log("tokenise_sections/{method}.{model}.{part}"),
    benchmark:
        plan.paths.benchmark_file("tokenise_sections/{method}.{model}.{part}")
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
    conda:
        plan.sources.torch_environment
    resources:
        **job_resources("tokenise_sections", plan),
    params:
        code=lambda w: code("pairs.tokenise_sections", *plan.mining.modules(w.method)),
        recipe=lambda w: as_json(plan.mining.token_recipe(w.method)),
    message:
        "Tokenise the section pairs of {wildcards.part} for {wildcards.model}, by {wildcards.method}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs tokenise_sections --recipe {params.recipe:q} --pairs {input.pairs}"
        " --tokenizer {input.tokenizer} --output {output.record} > {log} 2>&1"


rule pair_statistics:
    input:
        pairs=lambda w: [record for _, record in plan.chosen.knowledge_pairs()],
    output:
        csv=plan.paths.results("statistics/knowledge_pairs.csv"),
        md=plan.paths.results("statistics/knowledge_pairs.md"),
        svg=report(
            plan.paths.results("statistics/knowledge_pairs.svg"), category="Figures"
        ),
    log:
        plan.paths.log("pair_statistics"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code("pairs.pair_statistics"),
        pairs=lambda w: [
            f"{recipe}={record}" for recipe, record in plan.chosen.knowledge_pairs()
        ],
    message:
        "Count the knowledge pairs of every language and pair of languages"
    shell:
        "python -m stele pairs pair_statistics --pairs {params.pairs} --output {output.csv} > {log} 2>&1"


localrules:
    pair_statistics,
