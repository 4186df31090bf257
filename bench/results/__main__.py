"""Tables and pictures of docs/results.md: `./dev results [TABLE...]`.

Every table is a set of trainings and evaluations by the command, on one thread each. What was made
stays in the folder and is taken from there the next time, except with --quick.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys

import pages
import runs
import studies as definitions


def start(study, workshop, folders, quick):
    """Futures of trainings and evaluations: {label: [(training, evaluation) of each seed]}."""
    network = definitions.QUICK_NETWORK if quick else definitions.NETWORK
    data = folders[study.data]
    # Published data are a folder, generated ones the future of one with all of its test sets.
    published = isinstance(data, pathlib.Path)
    train_on = data / "train16" if published else data
    sets = [data / name for name in study.sets] if published else [data]
    begun = {}
    for case in study.cases:
        options = merged([*network, *definitions.OPTIMISER, "--epochs", str(study.epochs)],
                         case.options)
        begun[case.label] = []
        for seed in range(study.seeds):
            training = workshop.trained(train_on, options, seed)
            begun[case.label].append((training, workshop.evaluated(training, sets)))
    return begun


def merged(defaults, options):
    """Options of a case take the place of defaults of the same name."""
    given = {option for option in options if option.startswith("--")}
    kept, skipping = [], False
    for part in defaults:
        if part.startswith("--"):
            skipping = part in given
        if not skipping:
            kept.append(part)
    return [*kept, *options]


def finish(study, begun):
    """Waits, and gives {label: {"parameters", "seconds", "errors": {set: [of each seed]}, ...}}."""
    result = {}
    for label, pairs in begun.items():
        row = {"errors": {}, "points": {}, "seconds": [], "parameters": 0}
        for training, evaluation in pairs:
            trained, evaluated = training.result(), evaluation.result()
            row["parameters"] = trained["parameters"]
            row["seconds"].append(trained["seconds"])
            for case in evaluated["resolutions"]:
                errors = [field["relative_l2"] for field in case["fields"].values()]
                row["errors"].setdefault(case["label"], []).append(statistics.mean(errors))
                row["points"][case["label"]] = case["points"]
        result[label] = row
    return result


def write(study, result, folder):
    """TABLE.md, TABLE.json and, where asked for, TABLE.png."""
    found = next(iter(result.values()))["errors"]
    sets = [name for name in study.sets if name in found]
    columns = ["", "parameters", "training, s", *sets]
    rows = [[label, f"{row['parameters']:,}", f"{statistics.mean(row['seconds']):.0f}",
             *[pages.mean_and_spread(row["errors"][name]) for name in sets]]
            for label, row in result.items()]
    text = f"### {study.title}\n\n" + pages.table(columns, rows)
    (folder / f"{study.name}.md").write_text(text)
    (folder / f"{study.name}.json").write_text(json.dumps(result, indent=2) + "\n")
    if study.picture:
        curves = {label: sorted((row["points"][name], statistics.mean(row["errors"][name]))
                                for name in sets if "scattered" not in name and
                                "graded" not in name)
                  for label, row in result.items()}
        pages.draw(folder / f"{study.name}.png", study.title, study.picture, "relative L2", curves)
    print(text)


def check_bounds(study, result, bounds):
    """Figures that a quick run must not exceed: {study: {label: {set: bound}}}."""
    failures = []
    for label, sets in bounds.get(study.name, {}).items():
        for name, bound in sets.items():
            value = statistics.mean(result[label]["errors"][name])
            if not value <= bound:
                failures.append(f"{study.name}, {label}, {name}: {value:.4g}, at most {bound:.4g}")
    return failures


def arguments():
    parser = argparse.ArgumentParser(prog="./dev results", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="all, where none is named")
    parser.add_argument("--list", action="store_true", help="list the tables")
    parser.add_argument("--quick", action="store_true",
                        help="tiny networks and data, and a comparison with stored bounds")
    parser.add_argument("--published", default=os.environ.get("FUNCATTN_DARCY", ""),
                        metavar="FOLDER", help="train16/, test16/ and test32/ of the published Darcy "
                        "data (default: $FUNCATTN_DARCY); without it those tables are left out")
    parser.add_argument("--out", default="build/results", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="trainings at once, on one thread each (default: all cores)")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    all_studies = definitions.studies(options.quick)
    if options.list:
        for study in all_studies:
            print(f"{study.name:16} {study.title}")
        return 0
    known = {study.name for study in all_studies}
    unknown = [name for name in options.tables if name not in known]
    if unknown:
        print(f"./dev results: there is no table '{unknown[0]}'; known: {', '.join(sorted(known))}",
              file=sys.stderr)
        return 2
    folder = pathlib.Path(options.out) / ("quick" if options.quick else "full")
    if options.quick:  # It shall tell what the program of now does.
        shutil.rmtree(folder, ignore_errors=True)
    workshop = runs.Workshop(options.program, folder, options.jobs)
    made, given = definitions.datasets(options.quick, options.published)
    chosen = [study for study in all_studies if not options.tables or study.name in options.tables]
    folders = dict(given)
    pending = []
    for study in chosen:
        if study.data in made and study.data not in folders:
            folders[study.data] = workshop.dataset(*made[study.data])
        if study.data not in folders:
            print(f"{study.name} is left out: the data '{study.data}' are not there; name their "
                  "folder by --published", file=sys.stderr)
            continue
        pending.append((study, start(study, workshop, folders, options.quick)))
    failures = []
    bounds = json.loads(pathlib.Path(__file__).with_name("quick_bounds.json").read_text())
    try:
        for study, begun in pending:
            result = finish(study, begun)
            write(study, result, folder)
            if options.quick:
                failures += check_bounds(study, result, bounds)
    except runs.Failed as failure:
        print(f"./dev results: {failure}", file=sys.stderr)
        return 1
    finally:
        workshop.close()
    for failure in failures:
        print(f"./dev results: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
