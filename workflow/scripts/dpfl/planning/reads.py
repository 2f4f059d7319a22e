"""The files that the training of a run reads."""

from dpfl.planning.plan import Plan


def of_run(plan: Plan, run: str) -> dict[str, str]:
    """Return them by what they are, relative to the working folder."""
    needs = plan.runs[run]
    found = {
        "data": f"results/data/{needs['settings']['dataset']}.safetensors",
        "assignment": f"results/partitions/{needs['partition']}/assignment.npy",
    }
    if needs["calibration"]:
        found["calibration"] = f"results/calibrations/{needs['calibration']}.json"
    if needs["tuning"]:
        found["tuned"] = f"results/tunings/{needs['tuning']}.json"
    return found
