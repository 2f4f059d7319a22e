# Claims: every paper judged by what it printed and what was run, and all papers together.


rule judge:
    input:
        schema="workflow/schemas/tables.yaml",
        paper="results/papers/{paper}.json",
        files=lambda w: paper_files(w.paper),
        studies=lambda w: expand(
            "results/studies/{study}.json", study=plan.judging(PLAN, w.paper)
        ),
        analyses=lambda w: analysis_outputs(
            plan.of_paper(PLAN.analyses, w.paper), "csv"
        ),
        runs=lambda w: expand(
            "results/runs/{run}/{file}",
            run=plan.runs_of(
                PLAN.studies[study] for study in plan.judging(PLAN, w.paper)
            ),
            file=["summary.json", "metrics.csv"],
        ),
        # How both sides of a comparison were tuned is part of its verdict.
        chosen=lambda w: sorted(
            {
                path
                for study in plan.judging(PLAN, w.paper)
                for path in tuned_of_study(study)
            }
        ),
    output:
        claims="results/claims/{paper}/claims.csv",
        published="results/claims/{paper}/published.csv",
    log:
        "results/logs/judge/{paper}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        sources=sources_of(
            "judge",
            *(("judging/kinds", kind) for kind in plugins.names("judging/kinds")),
        ),
    shell:
        "python workflow/scripts/judge.py --paper {input.paper} --results results 2>&1 | tee {log}"


# What kept runs say, by today's rules: pages quote it.
rule derive:
    input:
        # Their digests say whether they changed: a clone gives all of them new ages.
        kept=ancient(
            [str(path) for path in sorted(Path("results/reference").glob("*/*/*.*"))]
        ),
        computed=analysis_outputs(PLAN.analyses, "csv"),  # or it would compute the same
    output:
        "results/derived/made.json",
    log:
        "results/logs/derive.log",
    priority: 1
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        told=naming.digest(derived_from()),
        sources=sources_of(
            "derive",
            *(("judging/kinds", kind) for kind in plugins.names("judging/kinds")),
            *(("tuning", rule) for rule in plugins.names("tuning")),
        ),
    shell:
        "python workflow/scripts/derive.py --output results/derived --cores {threads} 2>&1 | tee {log}"


rule collect_claims:
    input:
        schema="workflow/schemas/claims.schema.json",
        config="results/config.json",
        judged=expand(
            "results/claims/{paper}/{table}.csv",
            paper=PLAN.papers,
            table=["claims", "published"],
        ),
        papers=expand("results/papers/{paper}.json", paper=PLAN.papers),
        files=[file for paper in PLAN.papers for file in paper_files(paper)],
        evidence=[file for paper in PLAN.papers for file in tables_and_figures(paper)],
    output:
        claims="results/tables/claims.csv",
        published="results/tables/published.csv",
        records="results/claims.json",
    log:
        "results/logs/collect_claims.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=sources_of("judge"),
        papers=" ".join(PLAN.papers),
    shell:
        "python workflow/scripts/judge.py --papers {params.papers} --results results 2>&1 | tee {log}"
