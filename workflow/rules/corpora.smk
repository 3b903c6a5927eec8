# Dumps -> Documents (Parquet), one shard a job.


rule cc100:
    input:
        dataset=plan.paths.dataset("cc100", "{part}"),
    output:
        record=plan.paths.work("documents/cc100/{part}/record.json"),
    log:
        plan.paths.log("cc100/{part}"),
    benchmark:
        plan.paths.benchmark_file("cc100/{part}")
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


rule wikitext103:
    input:
        dataset=plan.paths.dataset("wikitext103", "{part}"),
    output:
        record=plan.paths.work("documents/wikitext103/{part}/record.json"),
    log:
        plan.paths.log("wikitext103/{part}"),
    benchmark:
        plan.paths.benchmark_file("wikitext103/{part}")
    wildcard_constraints:
        part="en",
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("wikitext103", plan),
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
    log:
        plan.paths.log("wikipedia/{part}.{shard}"),
    benchmark:
        plan.paths.benchmark_file("wikipedia/{part}.{shard}")
    wildcard_constraints:
        shard=r"\d+",
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources(
            "wikipedia",
            plan,
            lambda w: plan.corpora.dump_mb(w.part) // plan.corpora.shards(w.part),
        ),
    params:
        code=code("corpora.wikipedia"),
        shards=lambda w: plan.corpora.shards(w.part),
    message:
        "Extract the Wikipedia of {wildcards.part}, shard {wildcards.shard} of {params.shards}"
        " ({resources.mem_mb} MB, {resources.runtime} min, {resources.disk_mb} MB of disk)"
    shell:
        "python -m stele corpora wikipedia --language {wildcards.part} --dataset {input.dataset}"
        " --shard {wildcards.shard}/{params.shards} --output {output.record} > {log} 2>&1"


rule page_entities:
    input:
        dataset=plan.paths.dataset("wikidata_items", "all"),
    output:
        record=plan.paths.work("page_entities/record.json"),
    log:
        plan.paths.log("page_entities"),
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("page_entities", plan),
    params:
        code=code("corpora.page_entities"),
        wikis=lambda w: plan.corpora.knowledge_wikis,
    message:
        "Read which page of which Wikipedia is about which item of Wikidata"
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
    log:
        plan.paths.log("knowledge_base/{part}"),
    benchmark:
        plan.paths.benchmark_file("knowledge_base/{part}")
    conda:
        "../../envs/data.yaml"
    threads: job_threads("knowledge_base", plan)
    resources:
        **job_resources("knowledge_base", plan, lambda w: plan.corpora.dump_mb(w.part)),
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
