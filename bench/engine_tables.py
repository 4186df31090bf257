"""Tables of bench/engine.py: how a report is shown, line by line as its rows become known."""
MIB = 2**20


def seconds_text(run):
    if "exceeded" not in run:
        return f"{run['microseconds_per_point']:.2f} us"
    if run["exceeded"] == "memory":
        return "no memory"
    text = f">{run['limit']:g} s"
    return text + "*" if "expected_seconds" in run else text


def memory_text(run):
    return "-" if "exceeded" in run else f"{run['peak_bytes'] / MIB:.0f} MiB"


def times_text(found):
    return "-" if found is None else f"{'>' if found['at_least'] else ''}{found['times']:.2f}"


def share_text(found):
    """The reciprocal of a ratio: what funcattn takes of the other's."""
    if found is None:
        return "-"
    return f"{'<' if found['at_least'] else ''}{1 / found['times']:.2f}"


def number_text(value):
    return "-" if value is None else f"{value:.3f}"


def print_row(widths, cells):
    print("  ".join(cell.rjust(width) for width, cell in zip(widths, cells)), flush=True)


INFERENCE = [7, 9, 10, 10, 10, 8, 9, 8, 13, 13, 10, 10]
TRAINING = [7, 9, 10, 10, 10, 8, 9, 10, 10, 8, 9]


def print_head(report):
    machine, network = report["machine"], report["network"]
    model = network["model"]
    print(f"{machine['processor']}, {machine['cores']} cores, "
          f"load {machine['load_before']:.2f} before the run")
    if machine["load_before"] > 0.3 * machine["cores"]:
        print("the machine is not idle: figures will be too slow and vary")
    print(f"{model['form']}: width {model['width']}, {model['heads']} heads, basis "
          f"{model['basis']}, {model['blocks']} blocks; {network['parameters']} parameters, "
          f"{1e-6 * network['flops_per_point']:.3f} MFLOP per point")


def print_inference_head():
    print("\nInference: time per point, how many times faster than eager PyTorch with a tuned "
          "and the default\nallocator, rate and its share of square matrix products (chosen "
          "kernels, AVX-512 kernels), peak memory\nand its share of the allowance "
          "(1.3 n width 4 B + 64 MiB). *: expected from fewer points, not run.")
    print_row(INFERENCE, ["threads", "points", "funcattn", "tuned", "default", "x tuned",
                          "x default", "GFLOP/s", "of mm", "of mm AVX-512", "memory",
                          "allowance"])


def matrix_text(row, kernels):
    rate = row["matrix_gflops"].get(kernels)
    share = row.get("share_of_matrix_rate", {}).get(kernels)
    return "-" if rate is None or share is None else f"{share:.2f} of {rate:.0f}"


def print_inference(row):
    ours = row["funcattn"]
    share = row.get("share_of_allowance")
    print_row(INFERENCE, [
        str(row["threads"]), str(row["points"]), seconds_text(ours),
        seconds_text(row["eager_tuned"]), seconds_text(row["eager_default"]),
        times_text(row["speed_tuned"]), times_text(row["speed_default"]),
        f"{ours['gflops']:.0f}" if "gflops" in ours else "-", matrix_text(row, "chosen"),
        matrix_text(row, "avx512"), memory_text(ours), "-" if share is None else f"{share:.2f}"])


def print_growth_head(threads):
    print(f"\nGrowth of funcattn's time and peak memory, {threads} threads: exponent of the fit")


def print_growth(row):
    text = (f"  {row['quantity']:7} {', '.join(str(size) for size in row['sizes'])}: "
            f"time {number_text(row['time_exponent'])}, "
            f"memory {number_text(row['memory_exponent'])}")
    for left_out in row["exceeded"]:
        text += f"; {left_out['size']}: limit of {left_out['exceeded']}"
    print(text, flush=True)


def print_training_head():
    print("\nTraining step: time per point and peak memory; what funcattn takes of the other's")
    print_row(TRAINING, ["threads", "points", "funcattn", "tuned", "default", "of tuned",
                         "of default", "memory", "tuned", "of tuned", "of default"])


def print_training(row):
    print_row(TRAINING, [
        str(row["threads"]), str(row["points"]), seconds_text(row["funcattn"]),
        seconds_text(row["eager_tuned"]), seconds_text(row["eager_default"]),
        share_text(row["times_eager_tuned"]), share_text(row["times_eager_default"]),
        memory_text(row["funcattn"]), memory_text(row["eager_tuned"]),
        share_text(row["memory_eager_tuned"]), share_text(row["memory_eager_default"])])


def print_stage(row):
    print(f"\nStage, {row['points']} points from .vtu to .vtu, {row['threads']} threads")
    if "exceeded" in row:
        print(f"  limit of {row['exceeded']}")
        return
    phases = row["phases"]
    total = sum(phases[name]["seconds"] for name in ("read", "stage", "write"))
    for name in ("read", "bind", "compute", "write"):
        print(f"  {name:8} {phases[name]['seconds']:8.2f} s {phases[name]['seconds'] / total:6.1%}")
    peak = max(phase.get("peak_bytes", 0) for phase in phases.values())
    print(f"  {'all':8} {total:8.2f} s, peak memory {peak / MIB:.0f} MiB, files "
          f"{row['input_bytes'] / MIB:.0f} and {row['output_bytes'] / MIB:.0f} MiB", flush=True)


def print_goals(found):
    print("\nGoals, at the sizes measured; training beside the tuned allocator")
    for goal in found:
        verdict = {True: "met", False: "missed", None: "not known"}[goal["met"]]
        print(f"  {goal['where']:42} {goal['goal']:22} {number_text(goal['found']):>8} "
              f"{goal['wanted']:>12}  {verdict}")
