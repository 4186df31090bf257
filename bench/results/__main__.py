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

import cost
import pages
import runs
import studies as definitions
import tables


def check_bounds(study, result, bounds):
    """What a quick run has out of its bounds, {study: {label: {set: most or [least, most]}}}."""
    failures = []
    for label, sets in bounds.get(study.name, {}).items():
        for name, bound in sets.items():
            value = statistics.mean(result[label]["errors"][name])
            least, most = bound if isinstance(bound, list) else (0, bound)
            if not least <= value <= most:
                failures.append(f"{study.name}, {label}, {name}: {value:.4g}, expected {least:.4g} to "
                                f"{most:.4g}")
    return failures


def publish(study, folder, document):
    """Table and pictures of a study into the documents."""
    text = (folder / f"{study.name}.md").read_text()
    if not pages.update(document, study.name, text.split("\n\n", 1)[1]):  # It has a title of its own.
        print(f"{document} has no place <!-- {study.name} --> for the table", file=sys.stderr)
        return
    page = document.read_text()
    for picture in folder.glob(f"{study.name}*.png"):
        if f"images/results-{picture.name}" in page:
            shutil.copy(picture, document.parent / "images" / f"results-{picture.name}")


def lacking(table, absent):
    return (f"{table} needs data that are not part of the project; name their folder by "
            f"--{absent[table]}")


def arguments():
    parser = argparse.ArgumentParser(prog="./dev results", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="all, where none is named")
    parser.add_argument("--list", action="store_true", help="list the tables")
    parser.add_argument("--quick", action="store_true",
                        help="tiny networks and data, and a comparison with stored bounds")
    parser.add_argument("--published", default=os.environ.get("FUNCATTN_DARCY", ""),
                        metavar="FOLDER", help="train16/, test16/ and test32/ of the published Darcy "
                        "data (default: $FUNCATTN_DARCY); without it those tables are left out, and "
                        "to name one of them is an error")
    parser.add_argument("--rna", default=os.environ.get("FUNCATTN_RNA", ""), metavar="FOLDER",
                        help="train/ and test/ of the RNA surfaces (default: $FUNCATTN_RNA); as above")
    parser.add_argument("--out", default="build/results", help="default: %(default)s")
    parser.add_argument("--document", type=pathlib.Path, metavar="FILE",
                        help="put the tables between their marks <!-- TABLE --> in this file, and "
                        "the pictures in images/ beside it")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="trainings at once, on one thread each (default: all cores)")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def make_tables(chosen, workshop, alone, folders, folder, options):
    """Makes the tables, and then, with nothing else running, what needs the time taken.

    @return what exceeds its bound
    """
    errors = [study for study in chosen if not isinstance(study, definitions.CostStudy)]
    # The longest trainings, which are in the last tables, begin first: no core idles at the end.
    begun = {study.name: tables.start(study, workshop, folders, options.quick)
             for study in reversed(errors)}
    results = {study.name: tables.finish(study, begun[study.name]) for study in errors}
    bounds = json.loads(pathlib.Path(__file__).with_name("quick_bounds.json").read_text())
    failures = []
    for study in chosen:
        if study in errors:
            kind, result = tables, results[study.name]
            tables.measure(study, alone, folders, options.quick, result)
        else:
            kind, result = cost, cost.finish(study, cost.start(study, alone, folders, options.quick))
        kind.write(study, result, folder)
        if options.document:
            publish(study, folder, options.document)
        if options.quick:
            failures += check_bounds(study, result, bounds)
    return failures


def main():
    options = arguments()
    all_studies = definitions.studies(options.quick)
    needs = {study.name: option for study in all_studies
             for name, option in [(definitions.PUBLISHED, "published"), (definitions.RNA, "rna")]
             if name in study.datasets()}
    if options.list:
        for study in all_studies:
            needed = f" (needs --{needs[study.name]})" if study.name in needs else ""
            print(f"{study.name:16} {study.title}{needed}")
        return 0
    absent = {name: option for name, option in needs.items() if not getattr(options, option)}
    known = {study.name for study in all_studies}
    unknown = [name for name in options.tables if name not in known]
    if unknown:
        print(f"./dev results: there is no table '{unknown[0]}'; known: {', '.join(sorted(known))}",
              file=sys.stderr)
        return 2
    wanting = [name for name in options.tables if name in absent]
    for name in wanting:
        print(f"./dev results: {lacking(name, absent)}", file=sys.stderr)
    if wanting:
        return 2
    folder = pathlib.Path(options.out) / ("quick" if options.quick else "full")
    if options.quick:  # It shall tell what the program of now does.
        shutil.rmtree(folder, ignore_errors=True)
    workshop = runs.Workshop(options.program, folder, options.jobs)
    alone = runs.Workshop(options.program, folder, 1)
    chosen = []
    for study in all_studies:
        if study.name in absent and not options.tables:
            print(f"left out: {lacking(study.name, absent)}", file=sys.stderr)
        elif not options.tables or study.name in options.tables:
            chosen.append(study)
    made = definitions.datasets(options.quick)
    folders = definitions.given(options.published, options.rna, workshop)
    for name in dict.fromkeys(name for study in chosen for name in study.datasets()):
        if name in made:
            folders[name] = workshop.dataset(*made[name])
    try:
        failures = make_tables(chosen, workshop, alone, folders, folder, options)
    except runs.Failed as failure:
        failures = [failure]
    finally:
        workshop.close()
        alone.close()
    seconds = workshop.processor_seconds + alone.processor_seconds
    print(f"trainings and evaluations of these tables: {seconds / 60:.1f} minutes of processor time, those "
          "of earlier calls included", file=sys.stderr)
    for failure in failures:
        print(f"./dev results: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
