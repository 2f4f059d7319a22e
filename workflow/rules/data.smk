# Data sets as arrays, and their partitions into clients.


rule prepare_data:
    output:
        "results/data/{dataset}.safetensors",
    log:
        "results/logs/prepare_data/{dataset}.log",
    priority: 4  # trainings wait for it
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        config=RESOLVED,
        sources=lambda w: sources.of_data(w.dataset),
    # Its folder is no parameter: the same files in another one change nothing downstream.
    shell:
        "python workflow/scripts/prepare_data.py --dataset {wildcards.dataset} --config {params.config}"
        " --output {output} 2>&1 | tee {log}"


for number, names in enumerate(packs.partitions(PLAN, config["pack"]), 1):
    made = [{"name": name, **PLAN.partitions[name]} for name in names]
    dataset = made[0]["dataset"]

    rule:
        name:
            f"partition_{number}"
        input:
            data=f"results/data/{dataset}.safetensors",
        output:
            expand(
                "results/partitions/{name}/{file}",
                name=names,
                file=["assignment.npy", "clients.csv"],
            ),
            *[
                report(
                    f"results/partitions/{name}/labels.png",
                    caption="../report/partition.rst",
                    category="Partitions",
                    labels={"partition": name},
                )
                for name in names
            ],
        log:
            f"results/logs/partition/{number}.log",
        priority: 4
        conda:
            "../../envs/dpfl.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            sources=sources.of_partition(dataset, made[0]["settings"]["scheme"]),
            dataset=dataset,
            partitions=verbatim(json.dumps(made)),
        shell:
            "python workflow/scripts/partition.py --dataset {params.dataset} --data {input.data}"
            " --partitions {params.partitions:q} 2>&1 | tee {log}"
