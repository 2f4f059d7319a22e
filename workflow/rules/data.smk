# Data sets as arrays, and their partitions into clients.


rule prepare_data:
    output:
        "results/data/{dataset}.safetensors",
    log:
        "results/logs/prepare_data/{dataset}.log",
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


rule partition:
    input:
        data=lambda w: f"results/data/{partition_of(w)['dataset']}.safetensors",
    output:
        assignment="results/partitions/{partition}/assignment.npy",
        summary="results/partitions/{partition}/clients.csv",
        picture=report(
            "results/partitions/{partition}/labels.png",
            caption="../report/partition.rst",
            category="Partitions",
            labels=lambda w: {"partition": w.partition},
        ),
    log:
        "results/logs/partition/{partition}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=lambda w: sources.of_partition(
            partition_of(w)["dataset"], partition_of(w)["settings"]["scheme"]
        ),
        dataset=lambda w: partition_of(w)["dataset"],
        settings=lambda w: json.dumps(partition_of(w)["settings"]),
        seed=lambda w: partition_of(w)["seed"],
        min_examples=lambda w: partition_of(w)["min_examples"],
    shell:
        "python workflow/scripts/partition.py --dataset {params.dataset} --data {input.data}"
        " --settings {params.settings:q} --seed {params.seed}"
        " --min-examples {params.min_examples} --assignment {output.assignment}"
        " --summary {output.summary} --picture {output.picture} 2>&1 | tee {log}"
