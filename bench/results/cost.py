"""What training and inference cost by the number of points."""
import json

import pages
import runs
import studies as definitions


def start(study, workshop, folders, quick):
    """Futures {label: [(points, training, evaluation)]}."""
    network = definitions.QUICK_NETWORK if quick else definitions.NETWORK
    begun = {}
    for case in study.cases:
        options = definitions.merged([*network, "--batch", "1", "--steps", str(study.steps),
                                 "--validate-every", str(study.steps), "--log-every", "1"], case.options)
        begun[case.label] = []
        for points, name in study.sizes.items():
            if case.farthest and points > case.farthest:
                continue
            training = workshop.trained(folders[name], options, 0)
            evaluation = workshop.evaluated(training, [runs.Inside(folders[name], "test")])
            begun[case.label].append((points, training, evaluation))
    return begun


def finish(study, begun):
    """Waits, and gives {label: {"step": {points: s}, "inference": {points: s}, "memory": {...}}}."""
    result = {}
    for label, sizes in begun.items():
        row = {"step": {}, "inference": {}, "training memory": {}, "memory": {}}
        for points, training, evaluation in sizes:
            trained, evaluated = training.result(), evaluation.result()
            row["step"][points] = runs.fastest_step(trained)
            row["training memory"][points] = trained["peak_bytes"] / 2**20
            case = evaluated["resolutions"][0]
            row["inference"][points] = case["seconds_per_million_points"] * points / 1e6
            row["memory"][points] = evaluated["peak_bytes"] / 2**20
        result[label] = row
    return result


FIGURES = {
    "step": "Training step of one sample, seconds",
    "inference": "Inference of one sample, seconds",
    "training memory": "Peak memory of training, MiB",
    "memory": "Peak memory of inference, MiB",
}


def write(study, result, folder):
    """TABLE.md with a table for each figure, TABLE.json and pictures."""
    text = f"### {study.title}\n"
    for figure, title in FIGURES.items():
        sizes = list(study.sizes)
        rows = [[label, *[pages.significant(row[figure].get(points)) for points in sizes]]
                for label, row in result.items()]
        text += f"\n{title}\n\n" + pages.table(["points", *[f"{n:,}" for n in sizes]], rows)
        curves = {label: sorted(row[figure].items()) for label, row in result.items()}
        pages.draw(folder / f"{study.name}-{figure.replace(' ', '-')}.png", title, "points",
                   title.split(", ")[-1], curves)
    (folder / f"{study.name}.md").write_text(text)
    (folder / f"{study.name}.json").write_text(json.dumps(result, indent=2) + "\n")
    print(text)
