"""The most memory that a process has had, on every system."""

import sys
from pathlib import Path


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says begins with the parent's
        lines = status.read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    if sys.platform == "win32":
        import psutil  # comes with Dask's workers

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
