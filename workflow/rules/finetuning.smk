# Encoder + training set + recipe -> dual encoder. One job serves every benchmark and setting that uses it.


rule finetune:
    input:
        unpack(plan.finetune_input),
    output:
        record=plan.finetuned("{model}", "{recipe}", "{seeds}"),
    log:
        plan.log("finetune/{model}.{recipe}.{seeds}"),
    benchmark:
        plan.timing("finetune/{model}.{recipe}.{seeds}")
    conda:
        plan.torch_environment
    threads: job_threads("finetune", plan)
    resources:
        **job_resources("finetune", plan),
    params:
        code=lambda w: code("finetuning.finetune", *plan.finetune_modules(w.recipe)),
        recipe=lambda w: as_json(plan.training_recipe(w.recipe)),
        training=lambda w: assignments(plan.training_data(w.recipe)),
        negatives=lambda w: plan.negatives_argument(w),
        seed=lambda w: finetuning_seed(w.seeds),
        state=plan.state("finetune/{model}/{recipe}/{seeds}"),
    message:
        "Fine-tune {wildcards.model} with {wildcards.recipe} ({wildcards.seeds})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " finetuning finetune --model {wildcards.model} --recipe {params.recipe:q} --encoder {input.encoder}"
        " --training {params.training} {params.negatives} --seed {params.seed} --state {params.state} --code {params.code}"
        " --output {output.record} > {log} 2>&1"
