# Training: one job per run, and the choice of learning rates from the runs of a grid.


rule train:
    input:
        driver=f"{SCRIPTS}/train.py",
        sources=run_sources,
        data=lambda w: f"results/data/{run_of(w)['settings']['dataset']}.safetensors",
        assignment=lambda w: f"results/partitions/{run_of(w)['partition']}/assignment.npy",
        calibration=lambda w: if_any(
            "results/calibrations/{}.json", run_of(w)["calibration"]
        ),
        tuned=lambda w: if_any("results/tunings/{}.json", run_of(w)["tuning"]),
    output:
        metrics="results/runs/{run}/metrics.csv",
        rates="results/runs/{run}/rates.csv",
        model="results/runs/{run}/model.safetensors",
        summary="results/runs/{run}/summary.json",
    log:
        "results/logs/train/{run}.log",
    benchmark:
        "results/benchmarks/train/{run}.tsv"
    conda:
        "../../envs/dpfl.yaml"
    threads: 1
    resources:
        mem_mb=lambda w: estimate.memory_mb(run_of(w)["settings"]),
        runtime=lambda w: estimate.minutes(run_of(w)["settings"]),
        gpu=lambda w: int(run_of(w)["settings"]["device"] == "cuda"),
    params:
        settings=lambda w: json.dumps(run_of(w)["settings"]),
    shell:
        "python {input.driver} --run {wildcards.run} --settings {params.settings:q}"
        " --data {input.data} --assignment {input.assignment}"
        " --calibration {input.calibration} --tuned {input.tuned}"
        " --output results/runs/{wildcards.run} 2> {log}"


rule tune:
    input:
        driver=f"{SCRIPTS}/tune.py",
        sources=sources_of("tune"),
        runs=trials_of,
    output:
        "results/tunings/{tuning}.json",
    log:
        "results/logs/tune/{tuning}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        tuning=lambda w: json.dumps(PLAN.tunings[w.tuning]),
    shell:
        "python {input.driver} --tuning {params.tuning:q} --runs results/runs"
        " --output {output} 2>&1 | tee {log}"
