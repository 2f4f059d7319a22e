# Noise calibration: every client's multipliers for its sampling rate, steps and budget; and the
# studies that price plans without training anything.


rule calibrate:
    input:
        assignment=lambda w: f"results/partitions/{calibration_of(w)['partition']}/assignment.npy",
    output:
        "results/calibrations/{calibration}.json",
    log:
        "results/logs/calibrate/{calibration}.log",
    conda:
        "../../envs/dpfl.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        sources=lambda w: sources.of_calibration(
            calibration_of(w)["settings"]["budget"]["strategy"],
            calibration_of(w)["settings"]["accountant"],
        ),
        settings=lambda w: json.dumps(calibration_of(w)["settings"]),
        cache="results/cache",
    shell:
        "python workflow/scripts/calibrate.py --partition {input.assignment} --settings {params.settings:q}"
        " --cache {params.cache} --output {output} 2>&1 | tee {log}"


for analysis in PLAN.analyses:

    rule:
        name:
            f"analyse_{re.sub('[^a-z0-9]', '_', analysis)}"
        input:
            data=data_of(analysis),
        output:
            tables=[
                *analysis_outputs([analysis], "csv"),
                *analysis_outputs([analysis], "tex"),
            ],
            read=report(
                analysis_outputs([analysis], "md"),
                caption="../report/analysis.rst",
                category="Accounting",
                labels={"study": analysis},
            ),
            figure=report(
                analysis_figures([analysis]),
                caption="../report/analysis.rst",
                category="Accounting",
                labels={"study": analysis},
            ),
            pdf=analysis_figures([analysis], "pdf"),
            words=analysis_figures([analysis], "txt"),
        log:
            f"results/logs/analyse/{analysis}.log",
        conda:
            "../../envs/dpfl.yaml"
        resources:
            mem_mb=4000,
            runtime=60,
        params:
            sources=sources_of(
                "analyse",
                (package_of(analysis), PLAN.analyses[analysis]["uses"]),
                *named_by(analysis),
                *(
                    ("privacy/accountants", a)
                    for a in plugins.names("privacy/accountants")
                ),
            ),
            name=analysis,
            plugin=PLAN.analyses[analysis]["uses"],
            settings=verbatim(json.dumps(PLAN.analyses[analysis]["settings"])),
            data=dataset_arguments(analysis),
        shell:
            "python workflow/scripts/analyse.py --name {params.name} --analysis {params.plugin}"
            " --settings {params.settings:q} {params.data} 2>&1 | tee {log}"
