"""The measurements of bench/engine.py: which programs run, in which order, and what of their output
becomes a figure."""
import pathlib
import sys

from measuring import AVX512_KERNELS, KEEP_MEMORY, Failed
from network_cost import flops_per_point, growth_exponent, memory_allowance

EAGER = pathlib.Path(__file__).with_name("eager.py")
# The contestants: funcattn, PyTorch with an allocator that keeps memory, PyTorch as it comes.
TUNED, DEFAULT = "eager_tuned", "eager_default"
ENVIRONMENTS = {"funcattn": {}, TUNED: KEEP_MEMORY, DEFAULT: {}}
# Float32 results of two programs; relative to the largest value, or to the loss.
AGREEMENT = 1e-4


def better(best, found):
    """Of two results of one measurement the one that says more: the faster, a figure before an
    exceeded limit."""
    if best is None:
        return found
    if "exceeded" in found:
        return best
    if "exceeded" in best or found["seconds"]["best"] < best["seconds"]["best"]:
        return found
    return best


def ratio(other, ours, figure):
    """How many times what `other` takes of what `ours` takes, and whether that is only a lower
    bound since `other` was ended by a limit. None where ours is not known, or nothing of other."""
    if "exceeded" in ours:
        return None
    if "exceeded" in other:
        if figure == "seconds" and other["exceeded"] == "time":
            return {"times": other["limit"] / ours["seconds"]["best"], "at_least": True}
        return None
    value = {"seconds": lambda run: run["seconds"]["best"],
             "peak_bytes": lambda run: run["peak_bytes"]}[figure]
    return {"times": value(other) / value(ours), "at_least": False}


class Bench:
    """Runs programs in `folder`; `limits` bounds each (measuring.Limits)."""

    def __init__(self, program, folder, form, machine, limits, rounds, repeats):
        self.program = program
        self.folder = folder
        self.form = form
        self.machine = machine
        self.limits = limits
        self.rounds = rounds
        self.repeats = repeats
        # By contestant, measurement and threads: seconds per point of the latest run, and points of
        # the smallest run that wanted too much memory.
        self.pace = {}
        self.too_many = {}
        self.network = self.make_operator()
        self.network["flops_per_point"] = flops_per_point(self.network["model"])

    def make_operator(self, **sizes):
        name = "_".join(["operator"] + [f"{key}{value}" for key, value in sizes.items()])
        command = [self.program, "make-operator", "--form", self.form,
                   "--output", self.folder / f"{name}.safetensors"]
        for key, value in sizes.items():
            command += ["--" + key, value]
        return self.limits.require(command)

    def command(self, contestant, what, operator, points, threads):
        program = [self.program] if contestant == "funcattn" else [sys.executable, EAGER]
        return program + [what, "--operator", operator, "--points", points, "--threads", threads,
                          "--repeats", self.repeats]

    def run(self, contestant, what, points, threads, extra=()):
        """One process. Not started where its pace on fewer points says that it would exceed the
        limit of time, or where it exceeded that of memory before."""
        key = (contestant, what, threads)
        expected = self.pace.get(key, 0) * points
        exceeded = {"exceeded": "time", "limit": self.limits.seconds}
        if expected > self.limits.seconds:
            return {**exceeded, "expected_seconds": expected}
        if points >= self.too_many.get(key, points + 1):
            return {"exceeded": "memory"}
        command = self.command(contestant, what, self.network["operator"], points, threads)
        found = self.limits.run(command + list(extra), ENVIRONMENTS[contestant])
        if "exceeded" not in found:
            self.pace[key] = found["seconds"]["best"] / points
        elif found["exceeded"] == "time":
            self.pace[key] = self.limits.seconds * 1.01 / points
            found = exceeded
        else:
            self.too_many[key] = points
        return found

    def matrix_rates(self, threads):
        """GFLOP/s of square products with the kernels that the BLAS chooses, and with its AVX-512
        kernels where the processor has them."""
        command = [self.program, "matrix", "--threads", threads]
        rates = {"chosen": self.limits.require(command)["gflops"]}
        if self.machine["avx512"]:
            rates["avx512"] = self.limits.require(command, AVX512_KERNELS)["gflops"]
        return rates

    def inference(self, points, threads):
        result = self.folder / "result.raw"
        best = dict.fromkeys(ENVIRONMENTS)
        matrix = {}
        difference = None
        for _ in range(self.rounds):
            for kernels, rate in self.matrix_rates(threads).items():
                matrix[kernels] = max(rate, matrix.get(kernels, 0))
            for contestant in ENVIRONMENTS:
                ours = contestant == "funcattn"
                has_result = ours or "exceeded" not in best["funcattn"]
                extra = ["--output" if ours else "--compare", result] if has_result else []
                found = self.run(contestant, "inference", points, threads, extra)
                if "difference" in found:
                    difference = max(found["difference"], difference or 0)
                best[contestant] = better(best[contestant], found)
        if difference is not None and difference > AGREEMENT:
            raise Failed(f"results of funcattn and eager PyTorch at {points} points differ by "
                         f"{difference:.1e} of the largest value, expected at most {AGREEMENT}")
        row = {"points": points, "threads": threads, "matrix_gflops": matrix,
               "difference": difference, **best}
        for contestant, found in best.items():
            if "exceeded" not in found:
                found["gflops"] = 1e-9 * self.network["flops_per_point"] * points / \
                    found["seconds"]["best"]
        ours = best["funcattn"]
        row["speed_tuned"] = ratio(best[TUNED], ours, "seconds")
        row["speed_default"] = ratio(best[DEFAULT], ours, "seconds")
        row["memory_allowance_bytes"] = memory_allowance(self.network["model"], points)
        if "exceeded" not in ours:
            row["share_of_matrix_rate"] = {kernels: ours["gflops"] / rate
                                           for kernels, rate in matrix.items()}
            row["share_of_allowance"] = ours["peak_bytes"] / row["memory_allowance_bytes"]
        return row

    def growth(self, quantity, sizes, points, threads):
        """How funcattn's time and memory grow with one size, the others as in the network."""
        row = {"quantity": quantity, "points": points, "threads": threads, "sizes": [],
               "seconds": [], "peak_bytes": [], "exceeded": []}
        for size in sizes:
            found = None
            for _ in range(self.rounds):
                found = better(found, self.grown(quantity, size, points, threads))
            if "exceeded" in found:
                row["exceeded"].append({"size": size, "exceeded": found["exceeded"]})
                continue
            row["sizes"].append(size)
            row["seconds"].append(found["seconds"]["best"])
            row["peak_bytes"].append(found["peak_bytes"])
        row["time_exponent"] = growth_exponent(row["sizes"], row["seconds"])
        row["memory_exponent"] = growth_exponent(row["sizes"], row["peak_bytes"])
        return row

    def grown(self, quantity, size, points, threads):
        if quantity == "points":
            return self.run("funcattn", "inference", size, threads)
        operator = self.make_operator(**{quantity: size})["operator"]
        return self.limits.run(self.command("funcattn", "inference", operator, points, threads))

    def training(self, points, threads):
        best = dict.fromkeys(ENVIRONMENTS)
        for _ in range(self.rounds):
            for contestant in ENVIRONMENTS:
                found = self.run(contestant, "training", points, threads)
                best[contestant] = better(best[contestant], found)
        ours = best["funcattn"]
        for contestant in (TUNED, DEFAULT):
            other = best[contestant]
            if "exceeded" in ours or "exceeded" in other:
                continue
            first, expected = ours["losses"][0], other["losses"][0]
            if abs(first - expected) > AGREEMENT * abs(expected):
                raise Failed(f"the first loss of funcattn, {first}, differs from that of eager "
                             f"PyTorch, {expected}, by more than {AGREEMENT} of it")
        row = {"points": points, "threads": threads, **best}
        for contestant in (TUNED, DEFAULT):
            row["times_" + contestant] = ratio(best[contestant], ours, "seconds")
            row["memory_" + contestant] = ratio(best[contestant], ours, "peak_bytes")
        return row

    def stage(self, points, threads):
        source, target = self.folder / "mesh.vtu", self.folder / "mesh_out.vtu"
        made = self.limits.require([self.program, "make-mesh", "--points", points,
                                    "--output", source])
        found = self.limits.run([self.program, "stage", "--operator", self.network["operator"],
                                 "--input", source, "--output", target, "--threads", threads])
        if "exceeded" not in found:
            found["input_bytes"] = made["bytes"]
            found["output_bytes"] = target.stat().st_size
        return {"points": made["points"], "threads": threads, **found}
