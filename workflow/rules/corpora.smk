# Dumps -> Documents (Parquet), one shard a job.


rule cc100:
    input:
        dataset=plan.dataset("cc100", "{part}"),
    output:
        record=plan.work("documents/cc100/{part}/record.json"),
    log:
        plan.log("cc100/{part}"),
    benchmark:
        plan.timing("cc100/{part}")
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("cc100", plan),
    params:
        code=code("corpora.cc100"),
    message:
        "Split the web text of {wildcards.part} into documents and sentences"
    shell:
        "python -m stele corpora cc100 --language {wildcards.part} --dataset {input.dataset} --output {output.record} > {log} 2>&1"


rule wikipedia:
    input:
        dataset=plan.dataset("wikipedia", "{part}"),
    output:
        record=plan.work("documents/wikipedia/{part}/{shard}/record.json"),
    log:
        plan.log("wikipedia/{part}.{shard}"),
    benchmark:
        plan.timing("wikipedia/{part}.{shard}")
    wildcard_constraints:
        shard=r"\d+",
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources(
            "wikipedia", plan, lambda w: plan.dump_mb(w.part) // plan.shards(w.part)
        ),
    params:
        code=code("corpora.wikipedia"),
        shards=lambda w: plan.shards(w.part),
    message:
        "Extract the Wikipedia of {wildcards.part}, shard {wildcards.shard} of {params.shards}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora wikipedia --language {wildcards.part} --dataset {input.dataset}"
        " --shard {wildcards.shard}/{params.shards} --output {output.record} > {log} 2>&1"


rule page_entities:
    input:
        dataset=plan.dataset("wikidata_items", "all"),
    output:
        record=plan.work("page_entities/record.json"),
    log:
        plan.log("page_entities"),
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("page_entities", plan),
    params:
        code=code("corpora.page_entities"),
        wikis=lambda w: plan.knowledge_wikis,
    message:
        "Read which page of which Wikipedia is about which item of Wikidata"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora page_entities --dataset {input.dataset} --wikis {params.wikis} --output {output.record}"
        " > {log} 2>&1"


rule knowledge_base:
    input:
        documents=lambda w: plan.wikipedia_documents(w.part),
        page_entities=plan.page_entities(),
    output:
        record=plan.knowledge_base("{part}"),
    log:
        plan.log("knowledge_base/{part}"),
    benchmark:
        plan.timing("knowledge_base/{part}")
    conda:
        "../../envs/data.yaml"
    threads: job_threads("knowledge_base", plan)
    resources:
        **job_resources("knowledge_base", plan, lambda w: plan.dump_mb(w.part)),
    params:
        code=code("corpora.knowledge_base"),
        wiki=lambda w: plan.wiki(w.part),
    message:
        "Resolve the links and entities of the Wikipedia of {wildcards.part}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora knowledge_base --language {wildcards.part} --wiki {params.wiki}"
        " --documents {input.documents} --page-entities {input.page_entities} --memory-mb {resources.mem_mb}"
        " --threads {threads} --output {output.record} > {log} 2>&1"
