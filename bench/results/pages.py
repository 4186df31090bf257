"""Tables in Markdown and pictures by gnuplot."""
import math
import statistics
import subprocess


def significant(value, digits=3):
    """A number as people write it: 0.0975, 12.3, 1.2e-05."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -5 < exponent < 6:
        rounded = round(value, digits - 1 - exponent)
        return f"{rounded:.{max(0, digits - 1 - exponent)}f}"
    return f"{value:.{digits - 1}e}"


def mean_and_spread(values):
    """"0.0975 ± 0.0004": mean and standard deviation over the seeds; the value alone of one seed."""
    if not values:
        return "-"
    if len(values) == 1:
        return significant(values[0])
    mean, spread = statistics.mean(values), statistics.stdev(values)
    least = 10.0 ** (math.floor(math.log10(abs(mean))) - 3) if mean else 0  # A tenth of its last digit.
    if spread < least:
        return f"{significant(mean)} ± <{significant(least, 1)}"
    return f"{significant(mean)} ± {significant(spread, 1)}"


def update(document, name, text):
    """Puts a table between the marks `<!-- NAME -->` and `<!-- end of NAME -->` of a document.

    @return whether the document has them
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    page = document.read_text()
    if begin not in page:
        return False
    before, rest = page.split(begin)
    _, after = rest.split(end)
    document.write_text(before + begin + text + end + after)
    return True


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]


def ticks(low, high):
    """Places of the labels of a logarithmic axis, 0 < low <= high: finer where it is short."""
    def within(*tenths):
        places = [whole * 10 ** (decade - 1) if decade > 0 else whole / 10 ** (1 - decade)
                  for decade in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
                  for whole in tenths]
        return [place for place in places if low <= place <= high]

    for tenths in [(10, 20, 50), (10, 15, 20, 30, 40, 50, 70),
                   (10, 12, 14, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 60, 70, 80, 90)]:
        places = within(*tenths)
        if len(places) >= 3:
            break
    return places if len(places) <= 9 else within(10)


def fitted(axis, values):
    """The axis 'x' or 'y' as long as positive values need, with labels on it."""
    low, high = min(values), max(values)
    # In logarithms; the shortest axis has labels wherever it lies.
    factor = max(1.05, (high / low) ** 0.05, math.sqrt(1.4 * low / high))
    low, high = low / factor, high * factor
    labels = ", ".join(f"'{place:.6g}' {place!r}" for place in ticks(low, high))
    return [f"set {axis}range [{low!r}:{high!r}]", f"set {axis}tics ({labels})"]


def begun(path, title, y_label, heights):
    script = ["set terminal pngcairo size 760,460 font 'DejaVu Sans,10'",
              f"set output '{path}'", f"set title {quoted(title)}", f"set ylabel {quoted(y_label)}",
              "set logscale y", "set grid lc rgb '#dddddd'", "set key outside right top"]
    return script + (fitted("y", heights) if heights else [])


def plotted(script, curves, style, style_with_ranges):
    plots = []
    for index, (name, points) in enumerate(curves.items()):
        has_ranges = any(len(point) == 4 for point in points)
        columns = 4 if has_ranges else 2
        chosen = style_with_ranges if has_ranges else style
        # Bars would be dashed too, and told apart no better.
        dashes = 1 + index // len(COLOURS) if "lines" in chosen else 1
        script.append(f"$c{index} << EOD")
        script += [" ".join(map(str, (*point, *2 * point[1:2])[:columns])) for point in points]
        script.append("EOD")
        plots.append(f"$c{index} using {':'.join('1234'[:columns])} with "
                     f"{chosen} pt {7 + index // len(COLOURS)} ps 0.7 "
                     f"lc rgb '{COLOURS[index % len(COLOURS)]}' dt {dashes} "
                     f"lw 1.6 title {quoted(name)}")
    script.append("plot " + ", ".join(plots))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def positive(points):
    """Those whose height has a logarithm; where a range reaches 0 it begins at the height."""
    kept = [point for point in points if point[1] is not None and point[1] > 0]
    return [(x, y, *(value if value > 0 else y for value in reach)) for x, y, *reach in kept]


def heights_of(curves):
    return [height for points in curves.values() for point in points for height in point[1:]]


def draw(path, title, x_label, y_label, curves):
    """Curves {name: [(x, y)]} as a PNG, logarithmic in both; without positive values there is none.

    A point may be (x, y, least, most), the range of what y is the mean of. Curves with ranges stand a
    little beside each other, so that these can be told apart.
    """
    curves = {name: kept for name, points in curves.items() if (kept := positive(points))}
    if not curves:
        return
    middle = (len(curves) - 1) / 2
    for index, (name, points) in enumerate(curves.items()):
        if any(len(point) == 4 for point in points):
            curves[name] = [(x * 1.012 ** (index - middle), *rest) for x, *rest in points]
    script = begun(path, title, y_label, heights_of(curves))
    places = [point[0] for points in curves.values() for point in points]
    base = 2 if all(place >= 1 for place in places) else 10  # Counts, or quantities.
    plotted([*script, f"set logscale x {base}", "set format x '%g'",
             f"set xrange [{min(places) / 1.1!r}:{max(places) * 1.1!r}]",
             f"set xlabel {quoted(x_label)}"], curves, "linespoints", "yerrorlines")


def draw_groups(path, title, y_label, groups, rows):
    """Points {row: {group: (y,)}} side by side for each group as a PNG; (y, least, most) as in draw()."""
    width = 0.7 / max(1, len(rows) - 1)
    curves = {}
    for index, (name, values) in enumerate(rows.items()):
        offset = index * width - (0.35 if len(rows) > 1 else 0)
        curves[name] = positive([(place + offset, *values.get(group, (None,)))
                                 for place, group in enumerate(groups)])
    labels = ", ".join(f"{quoted(group)} {place}" for place, group in enumerate(groups))
    plotted([*begun(path, title, y_label, heights_of(curves)), f"set xtics ({labels})",
             f"set xrange [-0.5:{len(groups) - 0.5}]"], curves, "points", "yerrorbars")


def quoted(text):
    return "'" + text.replace("'", "''").replace("_", "\\_") + "'"
