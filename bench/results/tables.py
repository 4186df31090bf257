"""Tables of errors: cases in the rows, test sets in the columns."""
import json
import statistics

import pages
import runs
import studies as definitions


def trained(study, case, workshop, folders, quick, length, seed):
    """Future of the training of a case."""
    if study.task:
        return workshop.trained_on_task(study.task, definitions.merged(length, case.options), seed)
    network = definitions.QUICK_NETWORK if quick else definitions.NETWORK
    options = definitions.merged([*network, *definitions.OPTIMISER, *length], case.options)
    data = folders[case.data or case.sources or study.data]
    if study.queries:
        options += ["--query-data", folders[study.queries]]
    return workshop.trained(runs.Inside(data, study.inside) if study.inside else data, options, seed)


def start(study, workshop, folders, quick):
    """Futures of trainings and evaluations: {label: [(training, {set or None: evaluation})]}."""
    begun = {}
    for case in study.cases:
        names = study.sets
        if case.farthest:
            names = names[:names.index(case.farthest) + 1]
        begun[case.label] = []
        for seed in range(study.seeds):
            training = trained(study, case, workshop, folders, quick, length(study), seed)
            if study.task:
                evaluations = {None: workshop.evaluated_on_task(training, study.task)}
            else:
                options = [*study.evaluation, *case.evaluation]
                if study.queries:
                    options += ["--query-data", *[runs.Inside(folders[study.queries], name)
                                                  for name in study.query_sets]]
                sources = folders[case.sources or study.data]
                evaluations = {None: workshop.evaluated(
                    training, [runs.Inside(sources, name) for name in names], options)}
                for shift, other in study.shifts.items():
                    evaluations[shift] = workshop.evaluated(training,
                                                            [runs.Inside(folders[other], "test")])
            begun[case.label].append((training, evaluations))
    for label, figure in study.references.items():
        places = {name: runs.Inside(folders[study.data], name) for name in study.sets}
        places.update({shift: runs.Inside(folders[other], "test")
                       for shift, other in study.shifts.items()})
        begun[label] = (figure, places)
    return begun


def length(study):
    return ["--steps", str(study.steps)] if study.steps else ["--epochs", str(study.epochs)]


def finish(study, begun):
    """Waits, and gives {label: {"parameters", "errors": {set: [of each seed]}, ...}}."""
    return {label: row(study, of_label) for label, of_label in begun.items()}


def measure(study, workshop, folders, quick, result):
    """Adds what a training step takes, by a short training with nothing else beside it."""
    steps, every = (6, 2) if quick else (40, 10)
    # A single validation, after all steps: the fastest of them have none in their time.
    short = ["--steps", str(steps), "--log-every", str(every), "--validate-every", str(steps)]
    for case in study.cases:
        training = trained(study, case, workshop, folders, quick, short, 0)
        result[case.label]["step_ms"] = 1e3 * runs.fastest_step(training.result())


def row(study, begun):
    result = {"errors": {}, "gradients": {}, "points": {}, "step_ms": None, "parameters": None}
    if isinstance(begun, tuple):
        figure, places = begun
        result["errors"] = {name: [figure(runs.resolved(place))] for name, place in places.items()}
        return result
    for training, evaluations in begun:
        result["parameters"] = training.result()["parameters"]
        for shift, evaluation in evaluations.items():
            for case in cases_of(evaluation.result()):
                name = shift or case["label"]
                fields = case["fields"].values()
                result["errors"].setdefault(name, []).append(
                    statistics.mean(mean_of(field[study.figure]) for field in fields))
                if name in study.gradients:
                    result["gradients"].setdefault(name, []).append(
                        statistics.mean(mean_of(field["relative_h1"]) for field in fields))
                result["points"][name] = case["points"]
    return result


def mean_of(figure):
    return figure["mean"] if isinstance(figure, dict) else figure


def cases_of(evaluated):
    return [*evaluated["resolutions"],
            *[case for study in evaluated.get("studies", {}).values() for case in study]]


def labels(study):
    """Of the test sets, as `evaluate` calls them."""
    if not study.queries:
        return study.sets
    return [source if source == query else f"{source} to {query}"
            for source, query in zip(study.sets, study.query_sets)]


def write(study, result, folder):
    """TABLE.md, TABLE.json and TABLE.png."""
    wanted = [*labels(study), *study.shifts]
    sets = [name for name in wanted if any(name in row["errors"] for row in result.values())]
    columns = ["", "parameters", "step, ms", *sets, *[f"H1, {name}" for name in study.gradients]]
    rows = [[label, "-" if row["parameters"] is None else f"{row['parameters']:,}",
             pages.significant(row["step_ms"], 2),
             *[pages.mean_and_spread(row["errors"].get(name, [])) for name in sets],
             *[pages.mean_and_spread(row["gradients"].get(name, [])) for name in study.gradients]]
            for label, row in result.items()]
    text = f"### {study.title}\n\n" + pages.table(columns, rows)
    (folder / f"{study.name}.md").write_text(text)
    (folder / f"{study.name}.json").write_text(json.dumps(result, indent=2) + "\n")
    draw(study, result, sets, folder / f"{study.name}.png")
    print(text)


def draw(study, result, sets, path):
    figure = study.figure.replace("_l2", " L2").replace("_", " ")
    errors = {label: row["errors"] for label, row in result.items()}
    if study.figure == "accuracy":  # On a logarithmic axis what is near 1 would not be told apart.
        figure = "share of wrong points"
        errors = {label: {name: [1 - value for value in values] for name, values in row.items()}
                  for label, row in errors.items()}
    means = {label: {name: mean_and_range(values) for name, values in row.items()}
             for label, row in errors.items()}
    if any(case.value is not None for case in study.cases):
        curves = {}
        for case in study.cases:
            for name in sets if case.value is not None else []:
                curves.setdefault(", ".join(filter(None, [case.series, name])), []).append(
                    (case.value, *means[case.label][name]))
        pages.draw(path, study.title, study.axis, figure, curves)
    elif study.along:
        points = {name: count for row in result.values() for name, count in row["points"].items()}
        curves = {label: sorted((study.along[name] or points[name], *mean)
                                for name, mean in row.items() if name in study.along)
                  for label, row in means.items()}
        pages.draw(path, study.title, study.axis, figure, curves)
    else:
        pages.draw_groups(path, study.title, figure, sets, means)


def mean_and_range(values):
    """The mean, and of several seeds the least and the most."""
    mean = statistics.mean(values)
    return (mean, min(values), max(values)) if len(values) > 1 else (mean,)
