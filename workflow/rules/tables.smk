# Tables: the cells of a study with a verdict each, its paired comparisons, its good rates, its trials.


rule describe_config:
    output:
        "results/config.json",
    log:
        "results/logs/describe_config.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=200,
        runtime=5,
    params:
        config=RESOLVED,
        digest=naming.digest(config),
    shell:
        "cp {params.config} {output} 2>&1 | tee {log}"


# Resolved again by the driver, from the configuration of this call: what is resolved can be larger
# than an argument may be, and most changes of the configuration change no study. The digest says when.
rule describe_study:
    input:
        driver=f"{SCRIPTS}/describe.py",
    output:
        "results/studies/{study}.json",
    log:
        "results/logs/describe/{study}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=200,
        runtime=5,
    params:
        config=RESOLVED,
        digest=lambda w: naming.digest(PLAN.studies[w.study]),
    shell:
        "python {input.driver} --config {params.config} --name {wildcards.study}"
        " --digest {params.digest} --output {output} 2>&1 | tee {log}"


rule describe_paper:
    input:
        driver=f"{SCRIPTS}/describe.py",
    output:
        "results/papers/{paper}.json",
    log:
        "results/logs/describe_paper/{paper}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=200,
        runtime=5,
    params:
        config=RESOLVED,
        digest=lambda w: naming.digest(outline.of(w.paper, PAPERS, PLANNED, PLAN)),
    shell:
        "python {input.driver} --config {params.config} --name {wildcards.paper}"
        " --digest {params.digest} --output {output} 2>&1 | tee {log}"


rule tabulate:
    input:
        study="results/studies/{study}.json",
        runs=runs_of_study,
        tuned=tuned_of_study,
    output:
        tables=multiext("results/tables/{study}", ".csv", ".tex"),
        ranges=multiext("results/tables/{study}_ranges", ".csv", ".md", ".tex"),
        tuned=multiext("results/tables/{study}_tuned", ".csv", ".md", ".tex"),
        trials=multiext("results/tables/{study}_trials", ".csv", ".md", ".tex"),
        cells=report(
            "results/tables/{study}.md",
            caption="../report/table.rst",
            category="Tables",
            labels=lambda w: {"study": w.study, "table": "cells"},
        ),
        comparisons=multiext(
            "results/tables/{study}_comparisons", ".csv", ".md", ".tex"
        ),
    log:
        "results/logs/tabulate/{study}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        sources=sources_of("tabulate_study"),
    shell:
        "python workflow/scripts/tabulate_study.py --study {input.study} --results results"
        " 2>&1 | tee {log}"
