# The generated internet (miniature and small only): a mirror of upstream files and stand-ins for public checkpoints.


rule mirror:
    output:
        manifest=plan.manifest,
        user_data=directory(plan.resources("user_data")),
    log:
        plan.log("mirror"),
    conda:
        "../../envs/data.yaml"
    params:
        code=code(
            "world.mirror",
            *package_modules("world.writers"),
            data=("world/concepts.yaml", "world/scripts.yaml"),
        ),
        world=lambda w: as_json(plan.sizes["world"]),
        languages=lambda w: plan.sizes["languages"],
        facts=lambda w: plan.language_facts(),
        seed=lambda w: plan.sizes["seed"],
    message:
        "Generate the small internet: {params.languages}"
    shell:
        "python -m stele world mirror --world {params.world:q} --languages {params.languages} --seed {params.seed}"
        " --user-data {output.user_data} --output {output.manifest} > {log} 2>&1"


rule standin:
    input:
        manifest=plan.manifest,
        base=plan.standin_bases,
    output:
        record=plan.standin("{key}"),
    log:
        plan.log("standin/{key}"),
    benchmark:
        plan.timing("standin/{key}")
    wildcard_constraints:
        key="[a-z0-9_]+",
    conda:
        "../../envs/cpu.yaml"
    threads: job_threads("standin", plan)
    params:
        code=lambda w: code("world.standin", *plan.standin_modules(w.key)),
        recipe=lambda w: as_json(plan.standin_recipe(w.key)),
        languages=lambda w: plan.sizes["languages"],
        facts=lambda w: plan.language_facts(),
        seed=lambda w: plan.sizes["seed"],
        state=plan.state("standin/{key}"),
    message:
        "Train the stand-in for {wildcards.key}"
    shell:
        "python -m stele world standin --checkpoint {wildcards.key} --recipe {params.recipe:q} --mirror $(dirname {input.manifest})"
        " --languages {params.languages} --base {input.base} --seed {params.seed} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"
