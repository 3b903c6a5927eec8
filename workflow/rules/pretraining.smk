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
        code=lambda w: code("pretraining.pretrain", *plan.pretraining.modules(w.model)),
        recipe=lambda w: as_json(plan.pretraining.recipe(w.model).given()),
        encoding=lambda w: plan.pretraining.encoding(w.model),
        pairs=lambda w: assignments(plan.stores.pairs(w)),
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
        encoder=lambda w: plan.paths.pretrained(plan.models[w.model].snapshot_of, w.pt),
    output:
        record=plan.paths.work("encoders/{model}/pt{pt}/record.json"),
    wildcard_constraints:
        model=plan.models.snapshot_constraint,
        pt=r"\d+",
    params:
        code=code("pretraining.snapshot"),
        step=lambda w: plan.models.snapshot_step(w.model),
    message:
        "Export {wildcards.model} (seed {wildcards.pt}) from its pretraining"
    shell:
        "python -m stele pretraining snapshot --model {wildcards.model} --encoder {input.encoder}"
        " --step {params.step} --output {output.record} > {log} 2>&1"


localrules:
    snapshot,
