# Encoder + training set + recipe -> dual encoder. One job serves every benchmark and setting that uses it.


rule finetune:
    input:
        unpack(plan.finetuning.inputs),
    output:
        record=plan.paths.finetuned("{model}", "{recipe}", "{seeds}"),
    priority: 1  # pretrainings come first (pretraining.smk)
    params:
        code=lambda wildcards: code(
            "finetuning.finetune", *plan.finetuning.modules(wildcards.recipe)
        ),
        recipe=lambda wildcards: as_json(
            plan.finetuning.recipe(wildcards.recipe).given()
        ),
        training=lambda wildcards: assignments(
            plan.finetuning.training_data(wildcards.recipe)
        ),
        negatives=lambda wildcards: option(
            "--negatives", *plan.finetuning.mined_negatives(wildcards)
        ),
        seed=lambda wildcards: finetuning_seed(wildcards.seeds),
        state=plan.paths.state("finetune/{model}/{recipe}/{seeds}"),
    message:
        "Fine-tune {wildcards.model} with {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " finetuning finetune --model {wildcards.model} --recipe {params.recipe:q} --encoder {input.encoder}"
        " --training {params.training} {params.negatives} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
