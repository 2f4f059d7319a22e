# Noise calibration: every client's multipliers for its sampling rate, steps and budget; and the
# studies that price plans without training anything.


for number, names in enumerate(packs.calibrations(PLAN, config["pack"]), 1):
    found = [{"name": name, **PLAN.calibrations[name]} for name in names]

    rule:
        name:
            f"calibrate_{number}"
        input:
            sorted(
                {f"results/partitions/{f['partition']}/assignment.npy" for f in found}
            ),
        output:
            expand("results/calibrations/{name}.json", name=names),
        log:
            f"results/logs/calibrate/{number}.log",
        priority: 4  # trainings wait for it
        conda:
            "../../envs/dpfl.yaml"
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            sources=sources.of_calibration(
                found[0]["settings"]["budget"]["strategy"],
                found[0]["settings"]["accountant"],
            ),
            calibrations=verbatim(json.dumps(found)),
            cache="results/cache",
        shell:
            "python workflow/scripts/calibrate.py --calibrations {params.calibrations:q}"
            " --cache {params.cache} 2>&1 | tee {log}"


for analysis in PLAN.analyses:

    rule:
        name:
            f"analyse_{slug(analysis)}"
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
        priority: 2  # it takes longer than a table, and `derive` waits for it
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
