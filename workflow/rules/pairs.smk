# Documents and knowledge bases -> training examples; src/stele/pairs/methods has one file per mining method.


rule mine:
    input:
        documents=lambda wildcards: plan.mining.documents(
            wildcards.method, wildcards.part
        ),
        tokenizer=lambda wildcards: plan.paths.checkpoint(
            plan.models.tokenizer(wildcards.model)
        ),
    output:
        record=plan.paths.work("pairs/{method}/{model}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["mine"]),
    priority: 2  # the longest chains of jobs begin here, so these jobs get free cores first
    params:
        code=lambda wildcards: code(
            "pairs.mine", *plan.mining.modules(wildcards.method)
        ),
        recipe=lambda wildcards: as_json(plan.mining.recipe(wildcards.method).given()),
        most=lambda wildcards: option(
            "--most",
            plan.stores.caps.get((wildcards.method, wildcards.model, wildcards.part)),
        ),
        seed=lambda wildcards: plan.settings.sizes.seed,
    message:
        "Mine {wildcards.method} examples in {wildcards.part} with the tokenizer of {wildcards.model}"
    shell:
        "python -m stele pairs mine --recipe {params.recipe:q} --language {wildcards.part} --documents {input.documents}"
        " --tokenizer {input.tokenizer} {params.most} --seed {params.seed} --output {output.record} > {log} 2>&1"


rule knowledge_pairs:
    input:
        unpack(plan.mining.knowledge_inputs),
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
    params:
        code=lambda wildcards: code(
            "pairs.knowledge_pairs",
            *plan.mining.modules(wildcards.method),
        ),
        recipe=lambda wildcards: as_json(plan.mining.text_recipe(wildcards.method)),
        knowledge_base=lambda wildcards: assignments(
            plan.mining.knowledge_bases(wildcards)
        ),
        documents=lambda wildcards: assignments(
            plan.mining.knowledge_documents(wildcards)
        ),
        seed=lambda wildcards: plan.settings.sizes.seed,
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
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
    params:
        code=code("pairs.tokenise"),
        recipe=lambda wildcards: as_json(plan.mining.token_recipe(wildcards.method)),
    message:
        "Tokenise the {wildcards.method} pairs of {wildcards.part} for {wildcards.model}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs tokenise --recipe {params.recipe:q} --pairs {input.pairs} --tokenizer {input.tokenizer}"
        " --output {output.record} > {log} 2>&1"


rule section_pairs:
    input:
        unpack(plan.mining.section_inputs),
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
    params:
        code=lambda wildcards: code(
            "pairs.section_pairs", *plan.mining.modules(wildcards.method)
        ),
        recipe=lambda wildcards: as_json(plan.mining.text_recipe(wildcards.method)),
        knowledge_base=lambda wildcards: assignments(
            plan.mining.knowledge_bases(wildcards)
        ),
        documents=lambda wildcards: assignments(
            plan.mining.knowledge_documents(wildcards)
        ),
        vectors=lambda wildcards: assignments(plan.mining.vectors(wildcards)),
        seed=lambda wildcards: plan.settings.sizes.seed,
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
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
    params:
        code=lambda wildcards: code(
            "pairs.tokenise_sections", *plan.mining.modules(wildcards.method)
        ),
        recipe=lambda wildcards: as_json(plan.mining.token_recipe(wildcards.method)),
    message:
        "Tokenise the section pairs of {wildcards.part} for {wildcards.model}, by {wildcards.method}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele pairs tokenise_sections --recipe {params.recipe:q} --pairs {input.pairs}"
        " --tokenizer {input.tokenizer} --output {output.record} > {log} 2>&1"


rule pair_statistics:
    input:
        pairs=lambda wildcards: [
            record for _, record in plan.requested.knowledge_pairs()
        ],
    output:
        csv=plan.paths.results("statistics/knowledge_pairs.csv"),
        md=plan.paths.results("statistics/knowledge_pairs.md"),
        svg=report(
            plan.paths.results("statistics/knowledge_pairs.svg"), category="Figures"
        ),
    params:
        code=code("pairs.pair_statistics"),
        pairs=lambda wildcards: [
            f"{recipe}={record}" for recipe, record in plan.requested.knowledge_pairs()
        ],
    message:
        "Count the knowledge pairs of every language and pair of languages"
    shell:
        "python -m stele pairs pair_statistics --pairs {params.pairs} --output {output.csv} > {log} 2>&1"


localrules:
    pair_statistics,
