"""Tables of errors: cases in the rows, test sets in the columns."""
import json
import pathlib
import statistics

import pages
import runs
import studies as definitions


def start(study, workshop, folders, quick):
    """Futures of trainings and evaluations: {label: [(training, {set or None: evaluation})]}."""
    network = [] if study.task else definitions.QUICK_NETWORK if quick else definitions.NETWORK
    optimiser = [] if study.task else definitions.OPTIMISER
    begun = {}
    for case in study.cases:
        options = definitions.merged([*network, *optimiser, *length(study)], case.options)
        names = study.sets
        if case.farthest:
            names = names[:names.index(case.farthest) + 1]
        begun[case.label] = []
        for seed in range(case.seeds or study.seeds):
            if study.task:
                training = workshop.trained_on_task(study.task, options, seed)
                evaluations = {None: workshop.evaluated_on_task(training, study.task)}
            else:
                data = folders[study.data]
                # Published data are a folder, generated ones the future of one.
                grids = isinstance(data, pathlib.Path)
                training = workshop.trained(data / "train16" if grids else data, options, seed)
                evaluations = {None: workshop.evaluated(
                    training, [runs.Inside(data, name) for name in names], study.evaluation)}
                for shift, other in study.shifts.items():
                    evaluations[shift] = workshop.evaluated(training,
                                                            [runs.Inside(folders[other], "test")])
            begun[case.label].append((training, evaluations))
    return begun


def length(study):
    return ["--steps", str(study.steps)] if study.steps else ["--epochs", str(study.epochs)]


def finish(study, begun):
    """Waits, and gives {label: {"parameters", "seconds", "errors": {set: [of each seed]}, ...}}."""
    result = {}
    for label, pairs in begun.items():
        row = {"errors": {}, "points": {}, "seconds": [], "parameters": 0}
        for training, evaluations in pairs:
            trained = training.result()
            row["parameters"] = trained["parameters"]
            row["seconds"].append(trained["seconds"])
            for shift, evaluation in evaluations.items():
                for case in cases_of(evaluation.result()):
                    name = shift or case["label"]
                    fields = case["fields"].values()
                    row["errors"].setdefault(name, []).append(
                        statistics.mean(field[study.figure] for field in fields))
                    row["points"][name] = case["points"]
        result[label] = row
    return result


def cases_of(evaluated):
    return [*evaluated["resolutions"],
            *[case for study in evaluated.get("studies", {}).values() for case in study]]


def write(study, result, folder):
    """TABLE.md, TABLE.json and, where asked for, TABLE.png."""
    wanted = [*study.sets, *study.shifts]
    sets = [name for name in wanted if any(name in row["errors"] for row in result.values())]
    columns = ["", "parameters", "training, s", *sets]
    rows = [[label, f"{row['parameters']:,}", f"{statistics.mean(row['seconds']):.0f}",
             *[pages.mean_and_spread(row["errors"].get(name, [])) for name in sets]]
            for label, row in result.items()]
    text = f"### {study.title}\n\n" + pages.table(columns, rows)
    (folder / f"{study.name}.md").write_text(text)
    (folder / f"{study.name}.json").write_text(json.dumps(result, indent=2) + "\n")
    if study.picture:
        kept = [name for name in study.sets if "scattered" not in name and "graded" not in name]
        curves = {label: sorted((row["points"][name], statistics.mean(row["errors"][name]))
                                for name in kept if name in row["errors"])
                  for label, row in result.items()}
        pages.draw(folder / f"{study.name}.png", study.title, study.picture, "relative L2", curves)
    print(text)
