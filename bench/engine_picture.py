"""Picture of a report of bench/engine.py, by gnuplot."""
import subprocess

from measuring import Failed

MIB = 2**20


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
    # It warns of ranges of a single point, which are all right.
    done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Failed(f"cannot draw {path}: gnuplot says: {done.stderr.strip()}")
