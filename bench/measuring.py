"""Programs that measure themselves, run one after the other under limits of time and memory."""
import json
import os
import platform
import re
import resource
import subprocess

# glibc gives freed blocks above a threshold back to the system and takes them again, page by zeroed
# page, at the next allocation; these settings keep them.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "1000000000",
               "MALLOC_TOP_PAD_": "67108864"}
# On some processors with AVX-512 OpenBLAS chooses kernels that do not use it.
AVX512_KERNELS = {"OPENBLAS_CORETYPE": "SkylakeX"}

# What funcattn, LibTorch and Python say.
OUT_OF_MEMORY = re.compile("out of memory|can't allocate memory|bad_alloc|MemoryError")


class Failed(Exception):
    """A measured program ended with an error."""


class Limits:
    """What a measured program may take: seconds, and bytes of memory."""

    def __init__(self, seconds, memory):
        self.seconds = seconds
        self.memory = memory

    def run(self, command, environment=None):
        """The JSON object that the command prints; {"exceeded": "time" | "memory"} where it was
        ended for what it takes. Throws Failed for other errors."""
        def bound_memory():  # Private memory; files mapped into memory and libraries do not count.
            resource.setrlimit(resource.RLIMIT_DATA, (self.memory, self.memory))

        try:
            done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=self.seconds,
                                  env={**os.environ, **(environment or {})},
                                  preexec_fn=bound_memory)
        except subprocess.TimeoutExpired:
            return {"exceeded": "time"}
        if done.returncode == 0:
            return json.loads(done.stdout)
        killed = done.returncode == -9  # As the system does where memory runs out.
        if killed or OUT_OF_MEMORY.search(done.stderr):
            return {"exceeded": "memory"}
        raise Failed(f"{' '.join(str(part) for part in command)}: exit status {done.returncode}: "
                     f"{done.stderr.strip()[-2000:]}")

    def require(self, command, environment=None):
        """The JSON object that the command prints. Throws Failed where it exceeds a limit too."""
        found = self.run(command, environment)
        if "exceeded" in found:
            raise Failed(f"{' '.join(str(part) for part in command)} exceeds the limit of "
                         f"{found['exceeded']}; give a higher one")
        return found


def available_memory():
    """Bytes that programs can take without swapping."""
    with open("/proc/meminfo") as file:
        return next(1024 * int(line.split()[1]) for line in file
                    if line.startswith("MemAvailable"))


def processor():
    """Name and instruction sets of the processor."""
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    return fields.get("model name", platform.machine()), set(fields.get("flags", "").split())


def describe_machine():
    name, flags = processor()
    return {"processor": name, "avx512": "avx512f" in flags,
            "cores": len(os.sched_getaffinity(0)), "available_memory": available_memory(),
            "load_before": os.getloadavg()[0], "system": platform.platform()}
