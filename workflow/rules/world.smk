# The generated internet (miniature and small only): a mirror of upstream files and stand-ins for public checkpoints.
from stele_world.standins import module_of


rule mirror:
    output:
        manifest=plan.paths.manifest,
        user_data=directory(plan.paths.resources("user_data")),
    params:
        code=lambda w: code(
            "stele_world.mirror",
            *package_modules("stele_world.writers"),
            data=package_data("stele_world"),
        ),
        world=lambda w: as_json(plan.settings.sizes.world.given()),
        languages=lambda w: plan.settings.sizes.languages,
        facts=lambda w: plan.world.language_facts(),
        datasets=lambda w: plan.world.dataset_languages(),
        seed=lambda w: plan.settings.sizes.seed,
    message:
        "Generate the small internet: {params.languages}"
    shell:
        "python -m stele_world mirror --world {params.world:q} --languages {params.languages} --seed {params.seed}"
        " --user-data {output.user_data} --output {output.manifest} > {log} 2>&1"


rule standin:
    input:
        manifest=plan.paths.manifest,
        base=plan.world.bases,
    output:
        record=plan.paths.standin("{key}"),
    wildcard_constraints:
        key="[a-z0-9_]+",
    priority: 2  # like `mine` (pairs.smk)
    params:
        code=lambda w: code(
            "stele_world.standin", module_of(plan.world.recipe(w.key).kind)
        ),
        recipe=lambda w: as_json(plan.world.recipe(w.key).given()),
        languages=lambda w: plan.settings.sizes.languages,
        facts=lambda w: plan.world.language_facts(),
        seed=lambda w: plan.settings.sizes.seed,
        state=plan.paths.state("standin/{key}"),
    message:
        "Train the stand-in for {wildcards.key}"
    shell:
        "python -m stele_world standin --checkpoint {wildcards.key} --recipe {params.recipe:q} --mirror $(dirname {input.manifest})"
        " --languages {params.languages} --base {input.base} --seed {params.seed} --state {params.state}"
        " --code {params.code} --output {output.record} > {log} 2>&1"
