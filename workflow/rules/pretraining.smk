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
        model=f"(?!(?:{plan.models.snapshot_constraint})/)[^/]+",
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


# a snapshot becomes a model: the same files under a name of their own
rule snapshot:
    input:
        unpack(plan.models.snapshot_inputs),
    output:
        record=plan.paths.work("encoders/{model}/pt{pt}/record.json"),
    log:
        plan.paths.log("snapshot/{model}.pt{pt}"),
    benchmark:
        plan.paths.benchmark_file("snapshot/{model}.pt{pt}")
    wildcard_constraints:
        model=plan.models.snapshot_constraint,
        pt=r"\d+",
    conda:
        "../../envs/data.yaml"
    params:
        code=code("pretraining.snapshot"),
        step=lambda w: plan.models.snapshot_step(w.model),
    message:
        "Take {wildcards.model} (seed {wildcards.pt}) out of its pretraining"
    shell:
        "python -m stele pretraining snapshot --model {wildcards.model} --encoder {input.encoder}"
        " --step {params.step} --output {output.record} > {log} 2>&1"


localrules:
    snapshot,
