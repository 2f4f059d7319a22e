# Tables and figures of a study: its cells with a verdict each, paired comparisons, good rates, trials.

from dpfl.figures import captions


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
        digest=lambda w: naming.digest(outline.make(w.paper, PAPERS, PLANNED, PLAN)),
    shell:
        "python {input.driver} --config {params.config} --name {wildcards.paper}"
        " --digest {params.digest} --output {output} 2>&1 | tee {log}"


for study in PLAN.studies:
    drawn = PLAN.studies[study].get("figures", [])

    rule:
        name:
            f"tabulate_{slug(study)}"
        input:
            schema="workflow/schemas/tables.yaml",
            study=f"results/studies/{study}.json",
            runs=runs_of_study(study),
            tuned=tuned_of_study(study),
            files=[path for figure in drawn for path in files_of_figure(study, figure)],
        output:
            read=report(
                f"results/tables/{study}.md",
                caption="../report/table.rst",
                category="Tables",
                labels={"study": study, "table": "cells"},
            ),
            tables=[
                f"results/tables/{table}.{form}"
                for table in outputs.study_tables(PLAN, study)
                for form in outputs.FORMS
                if (table, form) != (study, "md")
            ],
            figures=[
                report(
                    f"results/figures/{study}/{figure}.png",
                    caption="../report/figure.rst",
                    category="Figures",
                    labels={"study": study, "figure": figure},
                )
                for figure in drawn
            ],
            others=expand(
                f"results/figures/{study}/{{figure}}.{{form}}",
                figure=drawn,
                form=["pdf", "csv", "txt"],
            ),
        log:
            f"results/logs/tabulate/{study}.log",
        conda:
            "../../envs/dpfl.yaml"
        resources:
            mem_mb=1000,
            runtime=15,
        params:
            sources=sources_of("tabulate_study", *(("figures/kinds", f) for f in drawn)),
            study=study,  # for Snakemake's report, like the captions
            captions=[f"{figure}: {captions.caption(figure)}" for figure in drawn],
        shell:
            "python workflow/scripts/tabulate_study.py --study {input.study} --results results"
            " 2>&1 | tee {log}"
