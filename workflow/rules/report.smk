# Figures, executed notebooks, and the page that links everything.

from dpfl.report import captions


rule plot:
    input:
        driver=f"{SCRIPTS}/plot.py",
        sources=lambda w: sources_of("plot", ("plots", w.figure)),
        study="results/studies/{study}.json",
        runs=runs_of_study,
    output:
        png=report(
            "results/figures/{study}/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda w: {"study": w.study, "figure": w.figure},
        ),
        pdf="results/figures/{study}/{figure}.pdf",
    log:
        "results/logs/plot/{study}-{figure}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=15,
    params:
        caption=lambda w: captions.of(w.figure),  # for Snakemake's report
    shell:
        "python {input.driver} --study {input.study} --figure {wildcards.figure}"
        " --runs results/runs --output results/figures/{wildcards.study}/{wildcards.figure}"
        " 2>&1 | tee {log}"


rule notebook:
    input:
        template="notebooks/{notebook}.ipynb",
        words=f"{SCRIPTS}/dpfl/report/narrative.py",
        sources=sources_of("dpfl/report/narrative", *NOTEBOOK_MODULES),
        anchors="workflow/resources/anchors.csv",
        read=notebook_inputs,
    output:
        notebook="results/notebooks/{notebook}.ipynb",
        html=report(
            "results/reports/{notebook}.html",
            caption="../report/notebook.rst",
            category="Notebooks",
            labels=lambda w: {"notebook": w.notebook},
        ),
    log:
        "results/logs/notebook/{notebook}.log",
    wildcard_constraints:
        notebook=one_of(SELECTED_NOTEBOOKS),
    # Two kernels that start at once can be given the same port; the later one dies.
    retries: 2
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        read=lambda w: notebook_parameters(w.notebook),
        scripts=lambda w, input: Path(input.words).parents[2],
        offline="--HTMLExporter.mathjax_url= --HTMLExporter.require_js_url=",
    shell:
        "(export PYTHONPATH={params.scripts};"
        " papermill {input.template} {output.notebook} --cwd . -k python3 --no-progress-bar"
        " {params.read} -p results results &&"
        " jupyter nbconvert --to html --no-input {params.offline} --output-dir results/reports {output.notebook}"
        ") > {log} 2>&1"


rule report:
    input:
        driver=f"{SCRIPTS}/report.py",
        sources=sources_of("report"),
        template="workflow/report/index.html.jinja",
        studies=expand("results/studies/{study}.json", study=PLAN.studies),
        tables=expand(
            "results/tables/{study}{part}.csv", study=PLAN.studies, part=TABLES
        ),
        figures=expand("results/figures/{figure}.png", figure=figures_of(PLAN.studies)),
        analyses=analysis_files(PLAN.analyses),
        notebooks=expand("results/reports/{notebook}.html", notebook=SELECTED_NOTEBOOKS),
        config="results/config.json",
        runs=expand(
            "results/runs/{run}/summary.json", run=plan.runs_of(PLAN.studies.values())
        ),
        captions=[
            *(f"{SCRIPTS}/dpfl/plots/{f.replace('-', '_')}.py" for f in FIGURES),
            *(
                f"{SCRIPTS}/dpfl/analyses/{found['analysis'].replace('-', '_')}.py"
                for found in PLAN.analyses.values()
            ),
        ],
    output:
        report(
            "results/reports/index.html",
            caption="../report/index.rst",
            category="Overview",
            labels={"page": "scorecard"},
        ),
    log:
        "results/logs/report.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        notebooks=[f"{n}=results/reports/{n}.html" for n in SELECTED_NOTEBOOKS],
        analyses=[f"{n}={found['title']}" for n, found in PLAN.analyses.items()],
    shell:
        "python {input.driver} --studies {input.studies} --tables results/tables"
        " --figures {input.figures} --notebooks {params.notebooks}"
        " --analyses {params.analyses:q}"
        " --runs results/runs --config {input.config} --output {output}"
        " 2>&1 | tee {log}"
