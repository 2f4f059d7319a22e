"""What machine this is, as summaries and provenance name it."""

import os
import platform
import re
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
SAME = ("cpu", "machine", "system", "device", "instructions", "threads")
"""What two trainings must share to give the same bits."""


def described() -> dict[str, Any]:
    """Return processor, system, cores and memory."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
    }


def line(hardware: dict[str, Any]) -> str:
    """Return in one line what of a run's hardware its bits depend on."""
    return ", ".join(f"{key} {hardware[key]}" for key in SAME if key in hardware)


def _cpu() -> str:
    """Return the model of the processor, as Linux names it."""
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.is_file() else ""
    named = re.search(r"^model name\s*:\s*(\S.*)$", text, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or platform.machine()
