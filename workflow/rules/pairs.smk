# Documents -> training examples, one mining method a file.


rule mine:
    input:
        documents=plan.documents,
        tokenizer=plan.checkpoint("{model}"),
    output:
        record=plan.work("pairs/{method}/{model}/{part}/record.json"),
    log:
        plan.log("mine/{method}.{model}.{part}"),
    conda:
        "../../envs/cpu.yaml"
    params:
        code=lambda w: code(
            "pairs.mine", f"pairs.{plan.pairs_recipe(w.method)['method']}"
        ),
        recipe=lambda w: as_json(plan.pairs_recipe(w.method)),
        seed=lambda w: plan.sizes["seed"],
    message:
        "Mine {wildcards.method} examples in {wildcards.part} with the tokenizer of {wildcards.model}"
    shell:
        "python -m stele pairs mine --recipe {params.recipe:q} --language {wildcards.part} --documents {input.documents}"
        " --tokenizer {input.tokenizer} --seed {params.seed} --output {output.record} > {log} 2>&1"
