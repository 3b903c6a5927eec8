# Dumps -> documents (Parquet); one job per shard.


rule cc100:
    input:
        dataset=plan.paths.dataset("cc100", "{part}"),
    output:
        record=plan.paths.work("documents/cc100/{part}/record.json"),
    params:
        code=code("corpora.cc100"),
    message:
        "Split the web text of {wildcards.part} into documents and sentences"
    shell:
        "python -m stele corpora cc100 --language {wildcards.part} --dataset {input.dataset} --output {output.record} > {log} 2>&1"


rule documents:
    input:
        dataset=plan.paths.dataset("documents", "{part}"),
    output:
        record=plan.paths.work("documents/documents/{part}/record.json"),
    params:
        code=code("corpora.documents"),
    message:
        "Split your own documents in {wildcards.part} into sentences"
    shell:
        "python -m stele corpora documents --language {wildcards.part} --dataset {input.dataset} --output {output.record} > {log} 2>&1"


rule wikitext103:
    input:
        dataset=plan.paths.dataset("wikitext103", "{part}"),
    output:
        record=plan.paths.work("documents/wikitext103/{part}/record.json"),
    wildcard_constraints:
        part="en",
    params:
        code=code("corpora.wikitext103"),
    message:
        "Split WikiText-103 into documents and sentences"
    shell:
        "python -m stele corpora wikitext103 --dataset {input.dataset} --output {output.record} > {log} 2>&1"


rule wikipedia:
    input:
        dataset=plan.paths.dataset("wikipedia", "{part}"),
    output:
        record=plan.paths.work("documents/wikipedia/{part}/{shard}/record.json"),
    wildcard_constraints:
        shard=r"\d+",
    params:
        code=code("corpora.wikipedia"),
        shards=lambda w: plan.corpora.shards(w.part),
    message:
        "Extract the Wikipedia of {wildcards.part}, shard {wildcards.shard} of {params.shards}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora wikipedia --language {wildcards.part} --dataset {input.dataset}"
        " --shard {wildcards.shard}/{params.shards} --output {output.record} > {log} 2>&1"


rule leakage:
    input:
        documents=lambda w: plan.pretraining.documents(w.model),
        data=lambda w: [*plan.data.evaluated(w.benchmark).values()],
    output:
        record=plan.paths.leakage("{benchmark}", "{model}"),
    params:
        code=lambda w: code("corpora.leakage", benchmark_code(w.benchmark)),
        languages=lambda w: plan.data.languages(w.benchmark),
        data=lambda w: assignments(plan.data.evaluated(w.benchmark)),
    message:
        "Look for the passages and queries of {wildcards.benchmark} in the training documents of {wildcards.model}"
    shell:
        "python -m stele corpora leakage --documents {input.documents} --benchmark {wildcards.benchmark}"
        " --languages {params.languages} --data {params.data} --output {output.record} > {log} 2>&1"


rule page_entities:
    input:
        dataset=plan.paths.dataset("wikidata_items", "all"),
    output:
        record=plan.paths.work("page_entities/record.json"),
    params:
        code=code("corpora.page_entities"),
        wikis=lambda w: plan.corpora.knowledge_wikis,
    message:
        "Map the pages of each Wikipedia to items of Wikidata"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora page_entities --dataset {input.dataset} --wikis {params.wikis} --output {output.record}"
        " > {log} 2>&1"


rule knowledge_base:
    input:
        documents=lambda w: plan.corpora.documents("wikipedia", w.part),
        page_entities=plan.paths.page_entities,
    output:
        record=plan.paths.knowledge_base("{part}"),
    params:
        code=code("corpora.knowledge_base"),
        wiki=lambda w: plan.corpora.wiki(w.part),
    message:
        "Resolve the links and entities of the Wikipedia of {wildcards.part}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora knowledge_base --language {wildcards.part} --wiki {params.wiki}"
        " --documents {input.documents} --page-entities {input.page_entities} --memory-mb {resources.mem_mb}"
        " --threads {threads} --output {output.record} > {log} 2>&1"
