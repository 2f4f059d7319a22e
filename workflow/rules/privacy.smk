# Noise calibration: every client's multiplier for its sampling rate, steps and budget.


rule calibrate:
    input:
        driver=f"{SCRIPTS}/calibrate.py",
        sources=lambda w: sources_of(
            "calibrate",
            ("privacy/budgets", calibration_of(w)["settings"]["budget"]["strategy"]),
            ("privacy/accountants", calibration_of(w)["settings"]["accountant"]),
        ),
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
        settings=lambda w: json.dumps(calibration_of(w)["settings"]),
    shell:
        "python {input.driver} --partition {input.assignment} --settings {params.settings:q}"
        " --output {output} 2>&1 | tee {log}"
