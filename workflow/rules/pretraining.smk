# Base checkpoint + mined examples + recipe -> encoder.


rule pretrain:
    input:
        unpack(plan.pretrain_input),
    output:
        record=plan.work("encoders/{model}/pt{pt}/record.json"),
    log:
        plan.log("pretrain/{model}.pt{pt}"),
    benchmark:
        plan.timing("pretrain/{model}.pt{pt}")
    wildcard_constraints:
        pt=r"\d+",
    conda:
        plan.torch_environment
    threads: job_threads("pretrain", plan)
    resources:
        **job_resources("pretrain", plan),
    params:
        code=lambda w: code("pretraining.pretrain", *plan.objective_modules(w.model)),
        recipe=lambda w: as_json(plan.objective_recipe(w.model)),
        pairs=lambda w: assignments(plan.pretrain_pairs(w)),
        state=plan.state("pretrain/{model}/pt{pt}"),
    message:
        "Pretrain {wildcards.model} (seed {wildcards.pt})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " pretraining pretrain --model {wildcards.model} --recipe {params.recipe:q} --base {input.base}"
        " --pairs {params.pairs} --seed {wildcards.pt} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
