# Catalogue and mirrors -> verified datasets; public checkpoints -> safetensors.


rule dataset:
    input:
        unpack(plan.sources.dataset_inputs),
    output:
        record=plan.paths.dataset("{dataset}", "{part}"),
    retries: 2 if not plan.settings.generated else 0
    resources:
        # the addresses are a resource and not a param, so that a moved mirror reruns nothing
        locations=lambda wildcards: flags(
            plan.sources.dataset_locations(wildcards.dataset)
        ),
    params:
        code=code("sources.dataset"),
        entry=lambda wildcards: plan.sources.dataset_entry(
            wildcards.dataset, wildcards.part
        ),
        languages=lambda wildcards: plan.sources.part_languages(
            wildcards.dataset, wildcards.part
        ),
        date=lambda wildcards: plan.sources.dump_date(wildcards.dataset) or "",
        first=lambda wildcards: option("--first", plan.corpora.first(wildcards.dataset)),
        content=lambda wildcards: plan.sources.user_content(
            wildcards.dataset, wildcards.part
        ),
        source=lambda wildcards: flags(
            {"source": plan.sources.added_source(wildcards.dataset, wildcards.part)}
        ),
        state=plan.paths.state("dataset/{dataset}/{part}"),
    message:
        "Fetch and verify {wildcards.dataset} ({wildcards.part})"
    shell:
        "python -m stele sources dataset --dataset {wildcards.dataset} --part {wildcards.part}"
        " --languages {params.languages} --date={params.date} {params.first} {params.source} {resources.locations} --state {params.state} --output {output.record} > {log} 2>&1"


rule checkpoint:
    input:
        unpack(plan.sources.checkpoint_inputs),
    output:
        record=plan.paths.checkpoint("{model}"),
    retries: 2 if not plan.settings.generated else 0
    resources:
        locations=lambda wildcards: flags(
            plan.sources.checkpoint_locations(wildcards.model)
        ),
        # the intended use only refuses unsuitable checkpoints and changes no output, so it is not a param either
        use=lambda wildcards: flags(plan.sources.checkpoint_use(wildcards.model)),
    params:
        code=code("sources.checkpoint"),
        source=lambda wildcards: as_json(
            plan.sources.checkpoint_params(wildcards.model)
        ),
        content=lambda wildcards: plan.sources.checkpoint_content(wildcards.model),
        state=plan.paths.state("checkpoint/{model}"),
    message:
        "Fetch and convert the checkpoint of {wildcards.model}"
    shell:
        "python -m stele sources checkpoint --model {wildcards.model} --source {params.source:q}"
        " {resources.locations} {resources.use} --state {params.state} --output {output.record} > {log} 2>&1"


rule downloads:
    input:
        lambda wildcards: plan.requested.downloads(),
    message:
        "All downloads for the chosen tables exist"


# nodes have no internet, so downloads run on the host where the workflow was started
localrules:
    checkpoint,
    dataset,
    downloads,
