# Training: a job for a pack of runs (see packs.py), of which Snakemake sees only why some failed; then
# a job per run, which shows its files, or fails alone. Of both there are jobs for open runs only:
# what is done is a file like the data, whoever trained it (see state.py). Profiles force them.


rule train_pack:
    input:
        lambda w: sorted(
            {file for run in PACKS[w.pack] for file in read_by(run).values()}
        ),
    output:
        temp("results/packs/{pack}.json"),
    log:
        "results/logs/train_pack/{pack}.log",
    priority: 3  # what only tells of results comes last
    conda:
        "../../envs/dpfl.yaml"
    threads: lambda w: at_once(w.pack)
    resources:
        mem_mb=lambda w, attempt: memory(PACKS[w.pack], attempt, at_once(w.pack)),
        runtime=lambda w, attempt: runtime(PACKS[w.pack], attempt),
        gpu=GPUS,
    params:
        runs=lambda w: described(PACKS[w.pack]),
        at_once=lambda w: at_once(w.pack),
    shell:
        "python workflow/scripts/train.py --runs {params.runs:q} --threads {threads}"
        " --at-once {params.at_once} --failed {output} 2>&1 | tee {log}"


rule train:
    input:
        lambda w: f"results/packs/{PACK_OF[w.run]}.json",
    output:
        **RUN_FILES,
    log:
        "results/logs/show/{run}.log",
    priority: 4
    localrule: True
    conda:
        "../../envs/dpfl.yaml"
    shell:
        "python workflow/scripts/train.py --show {wildcards.run} --failed {input} 2>&1 | tee {log}"


rule tune:
    input:
        trials_of,
    output:
        "results/tunings/{tuning}.json",
    log:
        "results/logs/tune/{tuning}.log",
    priority: 4
    localrule: True
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        sources=lambda w: sources.of_tuning(PLAN.tunings[w.tuning]["uses"]),
        tuning=lambda w: json.dumps(PLAN.tunings[w.tuning]),
    shell:
        "python workflow/scripts/tune.py --name {wildcards.tuning} --tuning {params.tuning:q}"
        " 2>&1 | tee {log}"


# Runs that count because results/reference keeps them: their files, without weights. A job for each
# folder; the names of runs are an argument, which has a limit.
for number, (folder_of_kept, names_of_kept) in enumerate(COUNTED):

    rule:
        name:
            f"lay_out_{number}"
        input:
            f"{folder_of_kept}/runs.jsonl.gz",
        output:
            expand(
                "results/runs/{run}/{file}",
                run=names_of_kept,
                file=["summary.json", "metrics.csv", "rates.csv"],
            ),
        log:
            f"results/logs/lay_out/{number}.log",
        priority: 9  # first: what is stored of a scale that is cut off is then whole
        localrule: True
        conda:
            "../../envs/dpfl.yaml"
        params:
            folder=folder_of_kept,
            runs=verbatim(" ".join(names_of_kept)),
        shell:
            "python workflow/scripts/derive.py --folder {params.folder} --runs {params.runs:q} 2>&1 | tee {log}"
