# Tables: the cells of a study with a verdict each, its paired comparisons, its good rates.


rule describe:
    input:
        driver=f"{SCRIPTS}/describe.py",
        sources=sources_of("describe"),
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
        content=lambda w: json.dumps(PLAN.studies[w.study]),
    shell:
        "python {input.driver} --content {params.content:q} --output {output} 2>&1 | tee {log}"


use rule describe as describe_config with:
    output:
        "results/config.json",
    log:
        "results/logs/describe_config.log",
    params:
        content=json.dumps(config),


rule tabulate:
    input:
        driver=f"{SCRIPTS}/tabulate_study.py",
        sources=sources_of("tabulate_study"),
        study="results/studies/{study}.json",
        runs=runs_of_study,
    output:
        tables=multiext("results/tables/{study}", ".csv", ".tex"),
        ranges=multiext("results/tables/{study}_ranges", ".csv", ".md", ".tex"),
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
    shell:
        "python {input.driver} --study {input.study} --runs results/runs"
        " --output-dir results/tables 2>&1 | tee {log}"
