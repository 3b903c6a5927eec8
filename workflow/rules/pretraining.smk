# Base checkpoint + mined examples + recipe -> encoder.


rule pretrain:
    input:
        unpack(plan.pretraining.inputs),
    output:
        record=plan.paths.work("encoders/{model}/pt{pt}/record.json"),
    log:
        plan.paths.log("pretrain/{model}.pt{pt}"),
    benchmark:
        plan.paths.benchmark_file("pretrain/{model}.pt{pt}")
    wildcard_constraints:
        pt=r"\d+",
    conda:
        plan.sources.torch_environment
    threads: job_threads("pretrain", plan)
    resources:
        **job_resources("pretrain", plan),
    params:
        code=lambda w: code("pretraining.pretrain", *plan.pretraining.modules(w.model)),
        recipe=lambda w: as_json(plan.pretraining.recipe(w.model).given()),
        pairs=lambda w: assignments(plan.pretraining.pairs(w)),
        state=plan.paths.state("pretrain/{model}/pt{pt}"),
    message:
        "Pretrain {wildcards.model} (seed {wildcards.pt})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " pretraining pretrain --model {wildcards.model} --recipe {params.recipe:q} --base {input.base}"
        " --pairs {params.pairs} --seed {wildcards.pt} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
