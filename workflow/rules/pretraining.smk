# Base checkpoint + mined examples + recipe -> encoder.


rule pretrain:
    input:
        unpack(plan.stores.inputs),
    output:
        record=plan.paths.work("encoders/{model}/pt{pt}/record.json"),
    wildcard_constraints:
        model=f"(?!(?:{plan.models.snapshot_constraint})/)[^/]+",
        pt=r"\d+",
    priority: 2  # like `mine` (pairs.smk)
    params:
        code=lambda wildcards: code(
            "pretraining.pretrain", *plan.pretraining.modules(wildcards.model)
        ),
        recipe=lambda wildcards: as_json(
            plan.pretraining.recipe(wildcards.model).given()
        ),
        encoding=lambda wildcards: plan.pretraining.encoding(wildcards.model),
        pairs=lambda wildcards: assignments(plan.stores.pairs(wildcards)),
        state=plan.paths.state("pretrain/{model}/pt{pt}"),
    message:
        "Pretrain {wildcards.model} (seed {wildcards.pt})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " pretraining pretrain --model {wildcards.model} --recipe {params.recipe:q} --base {input.base}{params.encoding}"
        " --pairs {params.pairs} --seed {wildcards.pt} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"


# a snapshot of a pretraining becomes a model: its files are exported under the model's name
rule snapshot:
    input:
        unpack(plan.models.snapshot_inputs),
    output:
        record=plan.paths.work("encoders/{model}/pt{pt}/record.json"),
    wildcard_constraints:
        model=plan.models.snapshot_constraint,
        pt=r"\d+",
    params:
        code=code("pretraining.snapshot"),
        step=lambda wildcards: plan.models.snapshot_step(wildcards.model),
    message:
        "Export {wildcards.model} (seed {wildcards.pt}) from its pretraining"
    shell:
        "python -m stele pretraining snapshot --model {wildcards.model} --encoder {input.encoder}"
        " --step {params.step} --output {output.record} > {log} 2>&1"


localrules:
    snapshot,
