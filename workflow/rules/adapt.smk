# Adaptation of an encoder: hold out documents, compare the adapted encoders with the original. For `stele adapt`.


rule hold_out:
    input:
        documents=lambda w: plan.corpora.documents(w.corpus, w.part),
    output:
        record=plan.paths.split("{side}", "{corpus}", "{part}"),
    wildcard_constraints:
        side="training|held_out",
        corpus="[a-z0-9_]+",
    params:
        code=code("adapt.hold_out"),
        held_out=as_json(
            plan.adaptation.rules.held_out.given(include={"share", "documents"})
        ),
    message:
        "Hold out documents of {wildcards.part}: {wildcards.side}"
    shell:
        "python -m stele adapt hold_out --side {wildcards.side} --documents {input.documents} --output {output.record}"
        " > {log} 2>&1"


rule neighbours:
    input:
        encoder=lambda w: plan.models.encoder(w.model, w.pt),
        documents=lambda w: [*plan.adaptation.held_out().values()],
    output:
        record=plan.paths.neighbours("{model}", "{pt}"),
    wildcard_constraints:
        pt=r"\d+",
    params:
        code=code("adapt.neighbours"),
        candidates=plan.adaptation.rules.held_out.candidates,
        documents=lambda w: assignments(plan.adaptation.held_out()),
        encoding=lambda w: as_json(plan.retrieval.encodings(None, w.model)),
        threads=plan.settings.sizes.threads,
    message:
        "Find neighbours of held-out sentences with {wildcards.model} (seed {wildcards.pt})"
    shell:
        "python -m stele --nodes {resources.nodes} --gpus {resources.gpus} --cpus {threads}"
        " adapt neighbours --encoder {input.encoder} --encoding {params.encoding:q} --documents {params.documents}"
        " --threads {params.threads} --output {output.record} > {log} 2>&1"


rule verdict:
    input:
        results=lambda w: plan.adaptation.results(),
        encoders=lambda w: [*plan.adaptation.encoders().values()],
        neighbours=lambda w: [*plan.adaptation.neighbours().values()],
        leakage=lambda w: [*plan.adaptation.leakage().values()],
        documents=lambda w: plan.pretraining.documents(
            plan.adaptation.values.methods[0]
        ),
    output:
        verdict=plan.paths.verdict,
    params:
        code=code("adapt.verdict"),
        bar=plan.adaptation.rules.bar,
        settings=lambda w: plan.adaptation.settings(),
        encoders=lambda w: assignments(plan.adaptation.encoders()),
        neighbours=lambda w: assignments(plan.adaptation.neighbours()),
        leakage=lambda w: assignments(plan.adaptation.leakage()),
        results=lambda w: plan.settings.config.results_dir,
    message:
        "Judge the adapted encoders against the original encoder and the control"
    shell:
        "python -m stele adapt verdict --settings {params.settings:q} --results-dir {params.results}"
        " --encoders {params.encoders} --neighbours {params.neighbours}"
        " --leakage {params.leakage} --documents {input.documents} --output {output.verdict} > {log} 2>&1"


localrules:
    hold_out,
    verdict,
