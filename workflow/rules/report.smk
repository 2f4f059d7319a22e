# The notebook of every paper, and the first page.

from dpfl.report.layout import LINKS

FRAME = ["layout.html.jinja", "paper.html.jinja", "parts.html.jinja", "site.css"]
NOTEBOOK_FRAME = ["notebook/conf.json", "notebook/index.html.j2"]
BESIDE = [f"results/reports/{name}.html" for name in LINKS if name != "index"]


rule notebook:
    input:
        template="notebooks/paper.ipynb",
        parts=expand("workflow/report/{file}", file=FRAME + NOTEBOOK_FRAME),
        paper="results/papers/{paper}.json",
        files=lambda w: paper_files(w.paper),
        judged=expand(
            "results/claims/{{paper}}/{table}.csv", table=["claims", "published"]
        ),
        read=lambda w: tables_and_figures(w.paper),
        kept="results/derived/made.json",
    output:
        notebook="results/notebooks/{paper}.ipynb",
        html=report(
            update("results/reports/{paper}.html"),  # the last one stays if this fails
            caption="../report/notebook.rst",
            category="Papers",
            labels=lambda w: {"paper": w.paper},
        ),
    log:
        "results/logs/notebook/{paper}.log",
    # Two kernels that start at once can be given the same port; the later one dies.
    retries: 2
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        sources=sources_of(
            "notebook",
            *NOTEBOOK_MODULES,
            *(("judging/kinds", kind) for kind in plugins.names("judging/kinds")),
        ),
        scripts=SCRIPTS,
    shell:
        "(export PYTHONPATH={params.scripts};"
        " python workflow/scripts/notebook.py --template {input.template} --paper {wildcards.paper}"
        " --output {output.notebook}) > {log} 2>&1"


rule report:
    input:
        parts=expand(
            "workflow/report/{file}",
            file=[
                *FRAME,
                "method.html.jinja",
                "index.html.jinja",
                "board.html.jinja",
                "board.js",
                "choices.html.jinja",
                "choices.js",
            ],
        ),
        judged=expand("results/tables/{table}.csv", table=["claims", "published"]),
        records="results/claims.json",
        papers=expand("results/papers/{paper}.json", paper=PLAN.papers),
        told=[file for paper in PLAN.papers for file in paper_files(paper)],
        read=[file for paper in PLAN.papers for file in tables_and_figures(paper)],
        pages=expand("results/reports/{paper}.html", paper=PLAN.papers),
        config="results/config.json",
        citation="CITATION.cff",
        runs=expand(
            "results/runs/{run}/summary.json", run=plan.runs_of(PLAN.studies.values())
        ),
        kept="results/derived/made.json",
    output:
        index=report(
            "results/reports/index.html",
            caption="../report/index.rst",
            category="Overview",
            labels={"page": "board of claims"},
        ),
        pages=BESIDE,
        cells="results/reports/cells.csv",
        methods=directory("results/reports/methods"),
    log:
        "results/logs/report.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=sources_of("report"),
        papers=" ".join(PLAN.papers),
        chosen=json.dumps(vars(choice.of_workflow(config, GIVEN))),
    shell:
        "python workflow/scripts/report.py --papers {params.papers} --chosen {params.chosen:q}"
        " --output {output.index} 2>&1 | tee {log}"
