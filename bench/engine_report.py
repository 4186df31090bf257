"""Tables, goals and picture of a report of bench/engine.py."""
import subprocess

MIB = 2**20
GOALS = {  # From the product's plan: what inference and training must reach.
    "speed_tuned": 5, "speed_default": 40, "share_of_matrix_rate": 0.55, "share_of_allowance": 1,
    "time_exponent": (0.97, 1.03), "training_time": 1 / 3, "training_memory": 1 / 10,
}


def seconds_text(run):
    if "exceeded" not in run:
        return f"{run['microseconds_per_point']:.2f} us"
    if run["exceeded"] == "memory":
        return "no memory"
    text = f">{run['limit']:.0f} s"
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


def goals(report):
    """What the report says of each goal: where, what was found, what is wanted, whether met (None:
    the report does not tell)."""
    found = []

    def add(where, goal, value, wanted, met):
        found.append({"where": where, "goal": goal, "found": value, "wanted": wanted, "met": met})

    def at_least(where, goal, value, bound):
        add(where, goal, value, f">= {bound}", None if value is None else value >= bound)

    def at_most(where, goal, value, bound):
        add(where, goal, value, f"<= {bound:.2g}", None if value is None else value <= bound)

    def times(entry):
        return None if entry is None else entry["times"]

    for row in report.get("inference", []):
        where = f"inference, {row['points']} points, {row['threads']} threads"
        for name in ("speed_tuned", "speed_default"):
            entry = row[name]
            at_least(where, name, times(entry), GOALS[name])
            if entry and entry["at_least"] and not found[-1]["met"]:
                found[-1]["met"] = None  # A lower bound cannot miss.
        shares = row.get("share_of_matrix_rate")
        # Against the better kernels: the rate that this processor reaches.
        at_least(where, "share_of_matrix_rate", min(shares.values()) if shares else None,
                 GOALS["share_of_matrix_rate"])
        at_most(where, "share_of_allowance", row.get("share_of_allowance"),
                GOALS["share_of_allowance"])
    for row in report.get("growth", []):
        if row["quantity"] == "points" and row["time_exponent"] is not None:
            low, high = GOALS["time_exponent"]
            add(f"growth, {row['sizes'][0]} to {row['sizes'][-1]} points", "time_exponent",
                row["time_exponent"], f"{low} to {high}", low <= row["time_exponent"] <= high)
    for row in report.get("training", []):
        where = f"training, {row['points']} points, {row['threads']} threads"
        for name, entry in (("training_time", row["times_eager_tuned"]),
                            ("training_memory", row["memory_eager_tuned"])):
            at_most(where, name, 1 / entry["times"] if entry else None, GOALS[name])
    return found


def print_goals(found):
    print("\nGoals, at the sizes measured; training beside the tuned allocator")
    for goal in found:
        verdict = {True: "met", False: "missed", None: "not known"}[goal["met"]]
        print(f"  {goal['where']:42} {goal['goal']:22} {number_text(goal['found']):>8} "
              f"{goal['wanted']:>12}  {verdict}")


def draw(report, path):
    """A picture of the report by gnuplot."""
    inference = report.get("inference", [])
    threads = max((row["threads"] for row in inference), default=None)
    blocks = {}

    def add(name, rows):
        if rows:
            blocks[name] = rows

    for contestant in ("funcattn", "eager_tuned", "eager_default"):
        add(contestant, [(row["points"], row[contestant]["microseconds_per_point"],
                          row[contestant]["peak_bytes"] / MIB)
                         for row in inference
                         if row["threads"] == threads and "exceeded" not in row[contestant]])
    growth = {row["quantity"]: row for row in report.get("growth", []) if row["sizes"]}
    if "points" in growth:
        row = growth.pop("points")
        more = [(n, 1e6 * seconds / n, peak / MIB) for n, seconds, peak in
                zip(row["sizes"], row["seconds"], row["peak_bytes"])]
        add("funcattn", sorted(blocks.get("funcattn", []) + more))
    for quantity, row in growth.items():
        add(quantity, [(size / row["sizes"][0], seconds / row["seconds"][0],
                        peak / row["peak_bytes"][0])
                       for size, seconds, peak in
                       zip(row["sizes"], row["seconds"], row["peak_bytes"])])
    if not blocks:
        return
    width = report["network"]["model"]["width"]
    names = {"funcattn": "funcattn", "eager_tuned": "eager, tuned allocator",
             "eager_default": "eager, default allocator"}

    def curves(members, column):
        return [f"${name} using 1:{column} with linespoints pt 7 title '{names.get(name, name)}'"
                for name in members if name in blocks]

    panels = []
    by_points = curves(names, 2)
    if by_points:
        panels += [("Time per point", "points", "microseconds", by_points),
                   ("Peak memory", "points", "MiB", curves(names, 3) +
                    [f"(1.3*x*{width}*4)/2**20 + 64 dt 2 lc 'black' title 'allowance'"])]
    if growth:
        panels += [("Time by size of the network", "relative size", "relative time",
                    curves(growth, 2)),
                   ("Memory by size of the network", "relative size", "relative memory",
                    curves(growth, 3))]
    script = ["set encoding utf8", "set terminal pngcairo font 'DejaVu Sans,10' size 1100,"
              f"{420 * len(panels) // 2}", f"set output '{path}'", "set logscale xy", "set grid",
              "set key top left"]
    for name, rows in blocks.items():
        script += [f"${name} << EOD"] + [" ".join(map(str, row)) for row in rows] + ["EOD"]
    script.append(f"set multiplot layout {len(panels) // 2},2")
    for title, x, y, plots in panels:
        script += [f"set title '{title}'", f"set xlabel '{x}'", f"set ylabel '{y}'",
                   "plot " + ", ".join(plots)]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)
