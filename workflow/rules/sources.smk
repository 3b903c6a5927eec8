# Catalogue and mirrors -> verified files, and foreign checkpoints -> safetensors.


rule dataset:
    input:
        unpack(plan.dataset_input),
    output:
        record=plan.dataset("{dataset}", "{part}"),
    log:
        plan.log("dataset/{dataset}.{part}"),
    benchmark:
        plan.timing("dataset/{dataset}.{part}")
    retries: 2 if not plan.generated else 0
    conda:
        "../../envs/data.yaml"
    resources:
        # where the bytes come from is no param: a moved mirror reruns nothing
        locations=lambda w: plan.dataset_locations(w.dataset),
    params:
        code=code("sources.dataset"),
        entry=lambda w: plan.dataset_entry(w.dataset, w.part),
        languages=lambda w: plan.part_languages(w.dataset, w.part),
        date=lambda w: plan.dump_date(w.dataset) or "",
        first=lambda w: option("--first", plan.first(w.dataset)),
        content=lambda w: plan.user_content(w.dataset, w.part),
        state=plan.state("dataset/{dataset}/{part}"),
    message:
        "Fetch and verify {wildcards.dataset} ({wildcards.part})"
    shell:
        "python -m stele sources dataset --dataset {wildcards.dataset} --part {wildcards.part}"
        " --languages {params.languages} --date={params.date} {params.first} {resources.locations} --state {params.state} --output {output.record} > {log} 2>&1"


rule checkpoint:
    input:
        unpack(plan.checkpoint_input),
    output:
        record=plan.checkpoint("{model}"),
    log:
        plan.log("checkpoint/{model}"),
    benchmark:
        plan.timing("checkpoint/{model}")
    retries: 2 if not plan.generated else 0
    conda:
        plan.torch_environment
    resources:
        locations=lambda w: plan.checkpoint_locations(w.model),
    params:
        code=code("sources.checkpoint"),
        source=lambda w: as_json(plan.checkpoint_params(w.model)),
        content=lambda w: plan.checkpoint_content(w.model),
        state=plan.state("checkpoint/{model}"),
    message:
        "Fetch and convert the checkpoint of {wildcards.model}"
    shell:
        "python -m stele sources checkpoint --model {wildcards.model} --source {params.source:q}"
        " {resources.locations} --state {params.state} --output {output.record} > {log} 2>&1"


rule downloads:
    input:
        lambda w: plan.downloads(),
    message:
        "Everything that the chosen tables need from outside is here"


# nodes have no internet: what is fetched is fetched where the workflow was started
localrules:
    checkpoint,
    dataset,
    downloads,
