# Encoder + training set + recipe -> dual encoder. One job serves every benchmark and setting that uses it.


rule finetune:
    input:
        unpack(plan.finetuning.inputs),
    output:
        record=plan.paths.finetuned("{model}", "{recipe}", "{seeds}"),
    priority: 1  # pretrainings come first (pretraining.smk)
    params:
        code=lambda w: code("finetuning.finetune", *plan.finetuning.modules(w.recipe)),
        recipe=lambda w: as_json(plan.finetuning.recipe(w.recipe).given()),
        training=lambda w: assignments(plan.finetuning.training_data(w.recipe)),
        negatives=lambda w: flags({"negatives": plan.finetuning.mined_negatives(w)}),
        seed=lambda w: finetuning_seed(w.seeds),
        state=plan.paths.state("finetune/{model}/{recipe}/{seeds}"),
    message:
        "Fine-tune {wildcards.model} with {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " finetuning finetune --model {wildcards.model} --recipe {params.recipe:q} --encoder {input.encoder}"
        " --training {params.training} {params.negatives} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
