# Training: a job per run or, where runs are short, a job for several of a paper (see packs.py).


if PACKS:

    # A pack leaves its runs' files, and a stamp of each, where Snakemake does not see them; a job per
    # run shows them, or tells the failure, so that one that fails fails alone. What a pack has
    # trained before it only shows again. (The stamps cannot be ancient(): a job with such an input
    # is not asked for reasons of its own when the one that makes it runs.)
    rule train:
        input:
            unpack(lambda w: read_by(w.run)),
            trained="results/runs/{run}/.trained",
        output:
            **RUN_FILES,
        log:
            "results/logs/publish/{run}.log",
        localrule: True
        conda:
            "../../envs/dpfl.yaml"
        params:
            sources=lambda w: run_sources(w.run),
            log="results/logs/train/{run}.log",
        shell:
            "python workflow/scripts/publish.py --stamp {input.trained} --log {params.log}"
            " --output results/runs/{wildcards.run} 2>&1 | tee {log}"

else:

    rule train:
        input:
            unpack(lambda w: read_by(w.run)),
        output:
            **RUN_FILES,
        log:
            "results/logs/train/{run}.log",
        conda:
            "../../envs/dpfl.yaml"
        threads: 1
        resources:
            mem_mb=lambda w, attempt: memory([w.run], attempt),
            runtime=lambda w, attempt: runtime([w.run], attempt),
            gpu=GPUS,
        params:
            runs=lambda w: described([w.run]),
        shell:
            "python workflow/scripts/train.py --runs {params.runs:q} --threads {threads} --show"


for pack, members in PACKS.items():

    rule:
        name:
            f"train_pack_{re.sub('[^a-z0-9]', '_', pack)}"
        input:
            read=list(
                dict.fromkeys(f for run in members for f in read_by(run).values())
            ),
        output:
            expand("results/runs/{run}/.trained", run=members),
        log:
            f"results/logs/train_pack/{pack}.log",
        conda:
            "../../envs/dpfl.yaml"
        threads: config["pack"]["cores"]
        resources:
            mem_mb=lambda w, attempt, runs=members: memory(
                runs, attempt, at_once=config["pack"]["cores"]
            ),
            runtime=lambda w, attempt, runs=members: runtime(runs, attempt),
            gpu=GPUS,
        params:
            runs=verbatim(described(members)),
            at_once=config["pack"]["cores"],
        shell:
            "python workflow/scripts/train.py --runs {params.runs:q} --threads {threads}"
            " --at-once {params.at_once} 2>&1 | tee {log}"


rule tune:
    input:
        trials_of,
    output:
        "results/tunings/{tuning}.json",
    log:
        "results/logs/tune/{tuning}.log",
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
        "python workflow/scripts/tune.py --tuning {params.tuning:q} --runs results/runs"
        " --output {output} 2>&1 | tee {log}"
