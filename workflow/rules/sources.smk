# Catalogue and mirrors -> verified datasets; public checkpoints -> safetensors.


rule dataset:
    input:
        unpack(plan.sources.dataset_inputs),
    output:
        record=plan.paths.dataset("{dataset}", "{part}"),
    retries: 2 if not plan.settings.generated else 0
    resources:
        # the addresses are a resource and not a param, so that a moved mirror reruns nothing
        locations=lambda w: flags(plan.sources.dataset_locations(w.dataset)),
    params:
        code=code("sources.dataset"),
        entry=lambda w: plan.sources.dataset_entry(w.dataset, w.part),
        languages=lambda w: plan.data.part_languages(w.dataset, w.part),
        date=lambda w: plan.sources.dump_date(w.dataset) or "",
        first=lambda w: flags({"first": plan.corpora.first(w.dataset)}),
        content=lambda w: plan.sources.user_content(w.dataset, w.part),
        source=lambda w: flags({"source": plan.sources.added_source(w.dataset, w.part)}),
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
        locations=lambda w: flags(plan.sources.checkpoint_locations(w.model)),
        # the intended use only refuses unsuitable checkpoints and changes no output, so it is not a param either
        use=lambda w: flags(plan.sources.checkpoint_use(w.model)),
    params:
        code=code("sources.checkpoint"),
        source=lambda w: as_json(plan.sources.checkpoint_params(w.model)),
        content=lambda w: plan.sources.checkpoint_content(w.model),
        state=plan.paths.state("checkpoint/{model}"),
    message:
        "Fetch and convert the checkpoint of {wildcards.model}"
    shell:
        "python -m stele sources checkpoint --model {wildcards.model} --source {params.source:q}"
        " {resources.locations} {resources.use} --state {params.state} --output {output.record} > {log} 2>&1"


rule downloads:
    input:
        lambda w: plan.requested.downloads(),
    message:
        "All downloads for the chosen tables exist"


# nodes have no internet, so downloads run on the host where the workflow was started
localrules:
    checkpoint,
    dataset,
    downloads,
