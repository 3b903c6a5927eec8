"""Functions that the Snakefile calls around its rules: setting up the plan, the start and the end of a run."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.io import apply_wildcards

from stele import catalogue
from stele.artifacts import results
from stele.artifacts.integrity import VERIFY_WHOLE
from stele.catalogue.schema.costs import rule_facts
from stele.catalogue.schema.datasets import Dataset
from stele.cluster import cost_page, job_environment, preflight, requests, settings
from stele.cluster.work import device
from stele.command import worker
from stele.command.parent_watch import hear_interrupts, identity
from stele.config.model import parse_config
from stele.config.scale import check_stamp
from stele.config.sources import read_sources
from stele.errors import SteleError, exhausted
from stele.files.paths import relative
from stele.files.reading import read_note
from stele.files.strict import Values
from stele.plan.plan import Plan
from stele.plan.validation import check
from stele.snakemake_support import locks, patches, rule_directives, run_tables, summary
from stele.snakemake_support.patches import dry_runs, slurm_patches, snakemake_patches
from stele.snakemake_support.validate_catalogue import validate_catalogue


def config_file(workflow, root: Path) -> str:
    """The folder's config.yaml, else the project's; read first, as Snakemake's error names neither file nor line."""
    path = "config.yaml" if Path("config.yaml").exists() else str(root / "config.yaml")
    is_read = not workflow.modifier.skip_configfile
    if is_read and not catalogue.read_yaml(path) and yaml.safe_load(Path(path).read_text(encoding="utf-8")) is None:
        raise SteleError(f"{path}: empty; want keys and values, as `scale: miniature`, or remove the file")
    return path  # `{}` is valid


def setup(values: Values, workflow, root: Path) -> Plan:
    """Validates the configuration, prepares the environment of the jobs and returns the plan; `root` is the project.

    Each reading of the Snakefile calls it: the driver's, a dry run's, a cluster job's. Raises WorkflowError.
    """
    if os.pathsep in str(root):  # between the folders of PATH and PYTHONPATH, and no way to quote it
        raise WorkflowError(f"{root}: no job can run below a folder with {os.pathsep!r} in its name; rename it")
    gc.set_threshold(100_000)  # a plan's objects live to the end
    # a job on a node is its own driver: the one that submitted it is on another host, and may end before it
    _environment(root, main=workflow.is_main_process or workflow.remote_exec)
    hear_interrupts()
    try:
        # the cluster's settings, and the software of the jobs
        settings.read()  # an error in cluster.yaml comes before its names are used
        snakemake_patches.add_default_resources(workflow)
        deployed = job_environment.prepare_software(workflow, root)
        contained = job_environment.CONTAINER in deployed
        if workflow.remote_exec:
            job_environment.prepare_node(job_environment.shell_lines(root, deployed), contained)
            slurm_patches.patch_node()
        # the plan
        if workflow.is_main_process:
            validate_catalogue()
        where = read_sources(workflow)
        plan = Plan(parse_config(values, where))
        check(plan, where)
        # what the plan says to the jobs and to the user
        os.environ[VERIFY_WHOLE] = "1" if plan.settings.config.verify_inputs else "0"  # no param: it changes no output
        if contained:
            outside = job_environment.outside_folders(plan.settings.config, plan.models.all.values())
            job_environment.bind([root, *outside])
        if not _is_module(workflow):  # another workflow has a first rule of its own
            workflow.default_target = "all_tables"
        if workflow.is_main_process:
            catalogue.note_plan()
            scale = plan.settings
            print(f"Stele: scale {scale.scale} ({scale.why}): {scale.sizes.title}", file=sys.stderr)
            _name_missing_folders(plan)
            if any(word.startswith("--delete-all") for word in sys.argv):
                if (run := locks.living_run()) and not workflow.output_settings.dryrun:
                    raise SteleError(locks.another_run(run))
                atexit.register(_say_what_stays, plan)
            killed = not workflow.output_settings.dryrun and locks.clear_stale_locks()
            snakemake_patches.make_removed_results_again()
            snakemake_patches.name_nearest_targets(plan, workflow)
            snakemake_patches.name_living_run()
            snakemake_patches.leave_out_tracebacks()
            if workflow.output_settings.dryrun:
                dry_runs.print_few_jobs()
                dry_runs.skip_environments()
                atexit.register(gc.freeze)  # else all of the plan is looked through for garbage once more, at the end
                atexit.register(_show_cost, plan, workflow)  # a dry run has no hooks
            else:
                from stele.snakemake_support import progress  # it draws with rich, which a dry run does without

                progress.install(workflow)
                folder = Path(plan.settings.config.results_dir)
                if killed and folder.is_dir():  # perhaps after its last job: without jobs no hook writes the manifest
                    atexit.register(results.write_manifest, folder)
        return plan
    except SteleError as error:
        raise WorkflowError(str(error)) from None


def _name_missing_folders(plan: Plan) -> None:
    """Names folders of `user_data` that do not exist: results that were made without them pass for up to date."""
    for dataset, folder in plan.settings.config.user_data.items():
        if not Path(folder).expanduser().exists():
            why = "what needs it cannot be built, and existing results stay as they are"
            print(f"Stele: user_data.{dataset}: {folder} does not exist; {why}", file=sys.stderr)


def _renew_links(plan: Plan) -> None:
    """Points links to the user's files that lead nowhere to the folder's present place: it, or the project, was moved.

    The content of the files, and not their place, decides whether a job runs again; jobs check what they read.
    """
    folders = {plan.paths.dataset(name, "*"): plan.data.folder(name) for name in catalogue.entries(Dataset)}
    folders |= {plan.paths.checkpoint(key): plan.models.checkpoint_source(key).get("path") for key in plan.models.all}
    for records, place in folders.items():
        folder = Path(place or "").expanduser()
        folder = folder.parent if folder.is_file() else folder  # documents in one file
        for record in Path().glob(records) if place else ():
            for path, facts in read_note(record, files=dict).get("files", {}).items():
                link, file = record.parent / relative(path, str(record)), folder / facts.get("name", path)
                if link.is_symlink() and not link.exists() and file.is_file():
                    link.unlink()
                    link.symlink_to(file.resolve())


def _show_cost(plan: Plan, workflow) -> None:
    """Prints, at the end of a dry run, the jobs by rule (if not printed singly) and their total cost on these cores."""
    jobs = requests.job_requests(plan, workflow.dag) if workflow.scheduler else []
    if not jobs:
        return  # nothing could be planned, or nothing is left to be done
    if patches.applies(patches.SNAKEMAKE) and not dry_runs.prints_jobs(workflow):
        print(cost_page.table_by("rule", jobs, device(settings.read().gpu_model)), file=sys.stderr)
        print("Stele: add -p to see each job, its command and why it runs", file=sys.stderr)
    on_cluster = os.environ.get("STELE_SHOW_JOBS") == "1"
    gpus = on_cluster or Path("/proc/driver/nvidia/version").exists()
    print(f"Stele: {cost_page.of_this_plan(jobs, None if on_cluster else workflow.cores or 1, gpus)}", file=sys.stderr)


def _say_what_stays(plan: Plan) -> None:
    """Says what `--delete-all-output` leaves: it deletes only the outputs of rules, which are records and tables."""
    folders = f"{plan.settings.config.results_dir} {plan.paths.work('')} {plan.paths.resources('')}"
    print(f"Stele: only records and tables were deleted; to delete everything: rm -r {folders}", file=sys.stderr)


def _environment(root: Path, main: bool) -> None:
    """Sets the jobs' environment: this interpreter first, this source tree, one thread unless a recipe says more."""
    environment = os.environ
    folders = environment.get("PATH", "").split(os.pathsep)
    folder = str(Path(sys.executable).parent)
    if folders[0] != folder:
        environment["PATH"] = os.pathsep.join([folder, *folders])
    source = str(root / "src")
    paths = [p for p in environment.get("PYTHONPATH", "").split(os.pathsep) if p and p != source]
    environment["PYTHONPATH"] = os.pathsep.join([source, *paths])
    environment.setdefault("OMP_NUM_THREADS", "1")
    environment.setdefault("TOKENIZERS_PARALLELISM", "false")
    environment.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else each job reads all packages' metadata for some
    environment.setdefault("HF_HUB_OFFLINE", "1")  # downloads are the rules' business, never a library's
    # numba compiles for half a minute; a folder that stays makes that a matter of once
    environment.setdefault("NUMBA_CACHE_DIR", str(Path.cwd() / ".snakemake" / "numba"))
    if main:
        environment["STELE_DRIVER"] = identity(os.getpid())


def finish_rules(plan: Plan, workflow, root: Path) -> None:
    """Completes the project's rules once they are read: directives by name, container, sbatch options, log in messages.

    With the profile of a cluster, messages are removed: they would hide the requests, inputs and outputs of a job. A
    dry run there has no limit of cores, since that limit would hide the threads of a job.
    """
    rules = [rule for rule in workflow.rules if Path(str(rule.snakefile)).is_relative_to(root)]
    try:
        rule_directives.complete_rules(rules, workflow, plan, root)
        job_environment.finish_rules(workflow)
        snakemake_patches.add_sbatch_options(workflow)
    except SteleError as error:
        raise WorkflowError(str(error)) from None
    if os.environ.get("STELE_SHOW_JOBS") == "1":
        for rule in rules:
            rule.message = None
        if workflow.is_main_process and workflow.output_settings.dryrun:
            workflow.global_resources["_cores"] = None
    elif not workflow.output_settings.dryrun:
        for rule in rules:
            if rule.message and rule.log:
                rule.message += "\n    log: {log}"
    if _is_module(workflow):  # whose handlers Snakemake leaves out
        workflow._onstart = lambda log: on_start(plan, workflow)
        workflow._onsuccess = workflow._onerror = lambda log: on_end(plan, workflow)


def _is_module(workflow) -> bool:
    """Whether another workflow imports these rules with `module`; Snakemake calls the main workflow a module, too."""
    return len(workflow.modifier_stack) > 1


def on_start(plan: Plan, workflow) -> None:
    """Snakemake's `onstart`, called before jobs run: notes this driver, starts the worker and the progress display.

    Raises WorkflowError for a second scale in one folder, another driver of the same outputs, or a run sure to fail.
    """
    from stele.snakemake_support import progress

    jobs, slurm = list(workflow.dag.needrun_jobs()), workflow.executor_plugin.name == "slurm"
    try:
        if slurm:
            slurm_patches.patch_driver(workflow)
        locks.note([path for job in jobs for path in _written(job)])
        requested = [] if workflow.touch else requests.job_requests(plan, workflow.dag)
        preflight.check(plan, requested, slurm)  # a refused run leaves no stamp
        _renew_links(plan)
        if any(job.output for job in jobs):  # an estimate of the cost writes no results
            another = f"give another folder (--config results_dir=results_{plan.settings.scale_folder})"
            check_stamp(Path(plan.settings.config.results_dir), plan.settings.scale, another)
            check_stamp(Path(plan.paths.work("")), plan.settings.scale, "give the scale's file another name")
        if any(job.rule.name == run_tables.RULE for job in jobs):
            run_tables.write_context(plan, workflow.touch)
    except (OSError, SteleError) as error:
        locks.forget()
        raise WorkflowError(str(exhausted(error) or error)) from None
    snakemake_patches.drop_rate_limit(workflow, local=workflow.local_exec)
    wanted = os.environ.get("STELE_USE_WORKER") == "1" and not job_environment.methods(workflow)
    if wanted and "STELE_WORKER" not in os.environ:
        _start_worker([job.rule.name for job in jobs if job.is_shell])
    progress.begin(plan, workflow)
    snakemake_patches.end_jobs_when_interrupted()


def _written(job) -> list[str]:
    """Outputs of a job, and the folder of its saved state, which does not depend on `results_dir`."""
    state = job.rule.params.get("state")
    return [*map(str, job.output), *([apply_wildcards(state, job.wildcards_dict)] if state else [])]


def _start_worker(rules: Sequence[str]) -> None:
    """Starts the local worker for jobs of these rules. A single job has none: by itself it loads only what it needs.

    Where a worker cannot start (no sockets, a full disk), jobs take longer, but give the same results.
    """
    if len(rules) < 2:
        return
    torch = any(rule_facts(rule).environment == "torch" for rule in rules)
    try:
        os.environ["STELE_WORKER"] = worker.start([*(worker.TORCH if torch else ()), *worker.PRELOAD])
        snakemake_patches.measure_children_of_worker(os.environ["STELE_WORKER"])
    except OSError as error:
        print(f"Stele: no local worker, so each job loads its libraries anew: {error}", file=sys.stderr)


def _write_manifest(plan: Plan, workflow) -> None:
    """Writes the manifest of all results after a run that wrote some; tables report results that cannot be read."""
    folder = f"{plan.settings.config.results_dir}/"
    written = any(
        job.name == "claims" or any(path.startswith(folder) for path in job.output)  # that rule has no output
        for job in workflow.dag.jobs
        if workflow.dag.finished(job)
    )
    if written:
        results.write_manifest(Path(folder))


def on_end(plan: Plan, workflow) -> None:
    """Snakemake's `onsuccess` and `onerror`: renders unfinished tables, writes the manifest, prints the summary."""
    from stele.snakemake_support import progress

    progress.end()
    try:
        if not snakemake_patches.interrupted.is_set():
            run_tables.finish_tables(plan, workflow)
        _write_manifest(plan, workflow)
    except (OSError, SteleError) as error:  # a full disk leaves the jobs' own logs empty, too
        print(f"Stele: tables and manifest were not renewed: {exhausted(error) or error}", file=sys.stderr)
    locks.forget()
    os.environ.pop("STELE_WORKER", None)
    if summary.wanted():
        summary.show_summary(workflow)
