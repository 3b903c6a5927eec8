# Dumps -> Documents (Parquet), one shard a job.


rule cc100:
    input:
        dataset=plan.dataset("cc100", "{part}"),
    output:
        record=plan.work("documents/cc100/{part}/record.json"),
    log:
        plan.log("cc100/{part}"),
    conda:
        "../../envs/data.yaml"
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
    wildcard_constraints:
        shard=r"\d+",
    conda:
        "../../envs/data.yaml"
    params:
        code=code("corpora.wikipedia"),
        shards=lambda w: plan.sizes["shards"].get("wikipedia", 1),
    message:
        "Extract the Wikipedia of {wildcards.part}, shard {wildcards.shard}"
    shell:
        "python -m stele corpora wikipedia --language {wildcards.part} --dataset {input.dataset}"
        " --shard {wildcards.shard}/{params.shards} --output {output.record} > {log} 2>&1"
