# Attacks on final models: what the models say of examples. A figure names what it reads beside runs in
# READS_STUDY; nothing else asks for it.


rule score_examples:
    input:
        data=lambda w: f"results/data/{PLAN.studies[w.study]['dataset']}.safetensors",
        weights=lambda w: expand(
            "results/runs/{run}/model.safetensors",
            run=plan.runs_of([PLAN.studies[w.study]]),
        ),
        assignments=lambda w: [
            f"results/partitions/{PLAN.runs[run]['partition']}/assignment.npy"
            for run in plan.runs_of([PLAN.studies[w.study]])
        ],
    output:
        "results/membership/{study}.safetensors",
    log:
        "results/logs/score_examples/{study}.log",
    conda:
        "../../envs/dpfl.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        sources=lambda w: sources_of(
            "score_examples", *(("models", model) for model in set(models_of(w)))
        ),
        models=models_of,
    shell:
        "python workflow/scripts/score_examples.py --data {input.data} --models {params.models}"
        " --weights {input.weights} --assignments {input.assignments} --output {output}"
        " 2>&1 | tee {log}"
