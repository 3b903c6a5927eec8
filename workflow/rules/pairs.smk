# Documents and knowledge bases -> training examples; src/stele/pairs/methods has one file per mining method.


rule mine:
    input:
        documents=lambda w: plan.mining.documents(w.method, w.part),
        tokenizer=lambda w: plan.paths.checkpoint(plan.stores.tokenizer(w.model)),
    output:
        record=plan.paths.work("pairs/{method}/{model}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["mine"]),
        model=r"[A-Za-z0-9_.-]+(\+\d+)?",  # a shared store, or one with its cap
    priority: 2  # the longest chains of jobs begin here, so these jobs get free cores first
    params:
        code=lambda w: code("pairs.mine", *plan.mining.modules(w.method)),
        recipe=lambda w: as_json(plan.mining.recipe(w.method).given()),
        most=lambda w: flags({"most": plan.stores.cap(w.method, w.model, w.part)}),
        seed=lambda w: plan.settings.sizes.seed,
    message:
        "Mine {wildcards.method} examples in {wildcards.part} with the tokenizer of {wildcards.model}"
    shell:
        "python -m stele pairs mine --recipe {params.recipe:q} --language {wildcards.part} --documents {input.documents}"
        " --tokenizer {input.tokenizer} {params.most} --seed {params.seed} --output {output.record} > {log} 2>&1"


rule knowledge_pairs:
    input:
        knowledge_base=lambda w: [*plan.mining.knowledge_bases(w).values()],
        documents=lambda w: sum(plan.mining.knowledge_documents(w).values(), []),
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
    params:
        code=lambda w: code(
            "pairs.knowledge_pairs",
            *plan.mining.modules(w.method),
        ),
        recipe=lambda w: as_json(plan.mining.text_recipe(w.method)),
        knowledge_base=lambda w: assignments(plan.mining.knowledge_bases(w)),
        documents=lambda w: assignments(plan.mining.knowledge_documents(w)),
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
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["knowledge_pairs"]),
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
        knowledge_base=lambda w: [*plan.mining.knowledge_bases(w).values()],
        documents=lambda w: sum(plan.mining.knowledge_documents(w).values(), []),
        vectors=lambda w: [*plan.mining.vectors(w).values()],
    output:
        record=plan.paths.work("knowledge_pairs/{method}/{part}/record.json"),
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
    params:
        code=lambda w: code("pairs.section_pairs", *plan.mining.modules(w.method)),
        recipe=lambda w: as_json(plan.mining.text_recipe(w.method)),
        knowledge_base=lambda w: assignments(plan.mining.knowledge_bases(w)),
        documents=lambda w: assignments(plan.mining.knowledge_documents(w)),
        vectors=lambda w: assignments(plan.mining.vectors(w)),
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
    wildcard_constraints:
        method="|".join(plan.mining.by_rule["section_pairs"]),
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
        pairs=lambda w: [record for _, record in plan.requested.knowledge_pairs()],
    output:
        csv=plan.paths.results("statistics/knowledge_pairs.csv"),
        md=plan.paths.results("statistics/knowledge_pairs.md"),
        svg=report(
            plan.paths.results("statistics/knowledge_pairs.svg"), category="Figures"
        ),
    params:
        code=code("pairs.pair_statistics"),
        pairs=lambda w: [
            f"{recipe}={record}" for recipe, record in plan.requested.knowledge_pairs()
        ],
    message:
        "Count the knowledge pairs of every language and pair of languages"
    shell:
        "python -m stele pairs pair_statistics --pairs {params.pairs} --output {output.csv} > {log} 2>&1"


localrules:
    pair_statistics,
