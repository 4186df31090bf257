"""Tests of ./dev results: which tables it makes, and the axes of its pictures."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

RESULTS = pathlib.Path(os.environ["FUNCATTN_SOURCE_DIR"]) / "bench" / "results"
sys.path.insert(0, str(RESULTS))
import fields  # noqa: E402
import pages  # noqa: E402
import runs  # noqa: E402
import studies  # noqa: E402
import tables  # noqa: E402


def results(*arguments):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("FUNCATTN_DARCY", "FUNCATTN_RNA")}
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, RESULTS, "--program", "false", "--out", folder, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


class Tables(unittest.TestCase):
    def test_the_list_tells_which_need_published_data(self):
        for arguments in (["--list"], ["--list", "--published", "folder"]):
            done = results(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = {line.split()[0]: line for line in done.stdout.splitlines()}
            self.assertTrue(lines["darcy-grids"].endswith("(needs --published)"), lines["darcy-grids"])
            self.assertTrue(lines["rna"].endswith("(needs --rna)"), lines["rna"])
            self.assertNotIn("needs", lines["burgers"])

    def test_a_named_table_without_its_data_is_an_error(self):
        done = results("burgers", "darcy-grids", "rna")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "".join(
            f"./dev results: {table} needs data that are not part of the project; name their folder by "
            f"--{option}\n" for table, option in [("darcy-grids", "published"), ("rna", "rna")]))

    def test_a_table_that_is_not_there_is_an_error(self):
        done = results("burgurs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no table 'burgurs'", done.stderr)


class Axes(unittest.TestCase):
    def test_labels_lie_between_decades(self):
        self.assertEqual(pages.ticks(0.14, 0.31), [0.15, 0.2, 0.3])
        self.assertEqual(pages.ticks(0.19, 0.26), [0.2, 0.22, 0.25])
        self.assertEqual(pages.ticks(0.9, 60), [1, 2, 5, 10, 20, 50])
        self.assertEqual(pages.ticks(1e-4, 2), [1e-4, 1e-3, 0.01, 0.1, 1])

    def test_the_axis_fits_the_values(self):
        self.assertEqual(pages.fitted("y", [0.7])[1], "set ytics ('0.6' 0.6, '0.7' 0.7, '0.8' 0.8)")
        with mock.patch("subprocess.run") as gnuplot:
            pages.draw("a.png", "title", "points", "error", {"a": [(1, 0.15), (2, 0.3)], "b": [(1, None)]})
        script = gnuplot.call_args.kwargs["input"]
        self.assertIn("set yrange [0.1428", script)
        self.assertIn("set ytics ('0.15' 0.15, '0.2' 0.2, '0.3' 0.3)", script)
        with mock.patch("subprocess.run") as gnuplot:
            pages.draw("a.png", "title", "points", "error", {"b": [(1, None)]})
        gnuplot.assert_not_called()

    def test_groups_stand_side_by_side(self):
        with mock.patch("subprocess.run") as gnuplot:
            pages.draw_groups("a.png", "title", "error", ["near", "far"],
                              {"a": {"near": (0.1,), "far": (0.2,)}, "b": {"near": (0.15,)}})
        script = gnuplot.call_args.kwargs["input"]
        self.assertIn("set xtics ('near' 0, 'far' 1)", script)
        self.assertIn("$c0 << EOD\n-0.35 0.1\n0.65 0.2\nEOD\n$c1 << EOD\n0.35 0.15\nEOD", script)


    def test_means_of_seeds_have_their_range(self):
        self.assertEqual(tables.mean_and_range([0.25]), (0.25,))
        self.assertEqual(tables.mean_and_range([0.5, 0.25]), (0.375, 0.25, 0.5))
        with mock.patch("subprocess.run") as gnuplot:
            pages.draw("a.png", "title", "points", "error",
                       {"a": [(1, 0.5)], "b": [(1, 0.5, 0.25, 0.75), (2, 0.25)], "c": [(1, 0.5, 0, 1)]})
        script = gnuplot.call_args.kwargs["input"]
        self.assertIn("$c0 << EOD\n1 0.5\nEOD", script)
        self.assertIn("$c1 << EOD\n1.0 0.5 0.25 0.75\n2.0 0.25 0.25 0.25\nEOD", script)
        self.assertIn("$c2 << EOD\n1.012 0.5 0.5 1\nEOD", script)
        self.assertIn("$c0 using 1:2 with linespoints", script)
        self.assertIn("$c1 using 1:2:3:4 with yerrorlines", script)
        with mock.patch("subprocess.run") as gnuplot:
            pages.draw_groups("a.png", "title", "error", ["near"], {"a": {"near": (0.5, 0.25, 0.75)}})
        self.assertIn("$c0 using 1:2:3:4 with yerrorbars", gnuplot.call_args.kwargs["input"])


class Figures(unittest.TestCase):
    def test_a_spread_has_no_more_digits_than_its_mean(self):
        self.assertEqual(pages.mean_and_spread([0.188001, 0.187999]), "0.188 ± <0.0001")
        self.assertEqual(pages.mean_and_spread([0.18, 0.19]), "0.185 ± 0.007")
        self.assertEqual(pages.mean_and_spread([0.0, 0.0]), "0 ± 0")
        self.assertEqual(pages.mean_and_spread([0.25]), "0.250")


class MeanField(unittest.TestCase):
    def test_a_finer_grid_takes_the_nearest_value(self):
        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, "train16/0.vti", 1, [0, 2])
            self.write(folder, "train16/1.vti", 1, [2, 4])
            self.write(folder, "test16/0.vti", 1, [1, 1])
            self.write(folder, "test32/0.vti", 0.75, [2, 4])
            # The mean is 1 and 3; of the places 0 and 0.75 the second one is nearer to 1.
            self.assertAlmostEqual(fields.training_mean(pathlib.Path(folder) / "test16"), 2 ** 0.5)
            self.assertAlmostEqual(fields.training_mean(pathlib.Path(folder) / "test32"), 0.1 ** 0.5)

    @staticmethod
    def write(folder, name, spacing, values):
        path = pathlib.Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"""<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian">
<ImageData WholeExtent="0 1 0 0 0 0" Origin="0 0 0" Spacing="{spacing} 1 1"><Piece Extent="0 1 0 0 0 0">
<PointData><DataArray type="Float64" Name="pressure" format="ascii">{values[0]} {values[1]}</DataArray></PointData>
</Piece></ImageData></VTKFile>""")


class Turns(unittest.TestCase):
    def test_what_waits_for_a_training_keeps_no_other_from_beginning(self):
        with tempfile.TemporaryDirectory() as folder:
            begun = pathlib.Path(folder) / "begun"
            program = pathlib.Path(folder) / "program"
            # Each training waits until both have begun.
            program.write_text(f"""#!/bin/bash
if [ $1 = train ]; then
  echo >> {begun}
  for i in {{1..200}}; do [ $(wc -l < {begun}) = 2 ] && break; sleep 0.05; done
  echo "{{\\"operator\\": \\"a\\", \\"begun\\": $(wc -l < {begun})}}"
else
  echo '{{"operators": [{{"resolutions": []}}], "peak_bytes": 1}}'
fi
""")
            program.chmod(0o755)
            workshop = runs.Workshop(program, folder, 2)
            trainings = []
            for seed in range(2):
                trainings.append(workshop.trained("data", [], seed))
                workshop.evaluated(trainings[-1], ["test"])
            self.assertEqual([training.result()["begun"] for training in trainings], [2, 2])
            workshop.close()


class Rows(unittest.TestCase):
    def test_a_step_takes_what_the_fastest_of_the_log_take(self):
        with tempfile.TemporaryDirectory() as folder:
            operator = pathlib.Path(folder) / "a.safetensors"
            operator.with_suffix(".log.jsonl").write_text(
                '{"step": 10, "seconds": 9}\n{"step": 30, "seconds": 10}\n{"step": 40, "seconds": 12}\n')
            trained = {"operator": str(operator), "ms_per_step": 300}
            self.assertEqual(runs.fastest_step(trained), 0.05)
            operator.with_suffix(".log.jsonl").write_text('{"step": 40, "seconds": 12}\n')
            self.assertEqual(runs.fastest_step(trained), 0.3)

    def test_a_case_may_be_trained_and_evaluated_in_its_own_way(self):
        workshop = mock.Mock()
        study = studies.Study("name", "title", "whole",
                              [studies.Case("one", ["--a"], data="half", evaluation=["--b"])],
                              seeds=1, inside="train16", evaluation=["--c"])
        tables.start(study, workshop, {"whole": "W", "half": "H"}, True)
        data, options, seed = workshop.trained.call_args.args
        self.assertEqual((data.folder, data.name, options[-1], seed), ("H", "train16", "--a", 0))
        self.assertEqual(options[options.index("--epochs") + 1], str(study.epochs))
        _, sets, evaluation = workshop.evaluated.call_args.args
        self.assertEqual((sets[0].folder, sets[0].name, evaluation), ("W", "test", ["--c", "--b"]))

    def test_a_reference_has_every_column(self):
        study = studies.Study("name", "title", "data", [], ["test", "test_x2"], shifts={"far": "other"},
                              references={"constant": lambda place: len(str(place))})
        begun = tables.start(study, mock.Mock(), {"data": pathlib.Path("d"), "other": pathlib.Path("other")},
                             False)
        row = tables.finish(study, begun)["constant"]
        self.assertEqual(row["errors"], {"test": [6], "test_x2": [9], "far": [10]})

    def test_pairs_of_meshes_name_both(self):
        workshop = mock.Mock()
        study = studies.Study("name", "title", "sources", [studies.Case("one", ["--a"])],
                              ["test", "test"], queries="queries", query_sets=["test", "test_x4"],
                              seeds=1)
        tables.start(study, workshop, {"sources": "S", "queries": "Q"}, True)
        self.assertEqual(workshop.trained.call_args.args[1][-2:], ["--query-data", "Q"])
        _, sets, (option, *queries) = workshop.evaluated.call_args.args
        self.assertEqual([(place.folder, place.name) for place in sets], 2 * [("S", "test")])
        self.assertEqual(option, "--query-data")
        self.assertEqual([(place.folder, place.name) for place in queries],
                         [("Q", "test"), ("Q", "test_x4")])
        self.assertEqual(tables.labels(study), ["test", "test to test_x4"])

    def test_a_case_may_have_its_inputs_on_other_meshes(self):
        workshop = mock.Mock()
        study = studies.Study("name", "title", "sources", [studies.Case("one", [], sources="queries")],
                              ["test"], queries="queries", query_sets=["test_x4"], seeds=1)
        self.assertEqual(study.datasets(), ["sources", "queries"])
        tables.start(study, workshop, {"sources": "S", "queries": "Q"}, True)
        self.assertEqual(workshop.trained.call_args.args[0], "Q")
        _, sets, (_, query) = workshop.evaluated.call_args.args
        self.assertEqual((sets[0].folder, sets[0].name, query.folder, query.name),
                         ("Q", "test", "Q", "test_x4"))

    def test_figures_of_classes_are_means_too(self):
        study = studies.Study("name", "title", "data", [], figure="accuracy")
        evaluated = {"resolutions": [
            {"label": "test", "points": 5, "fields": {"label": {"accuracy": {"mean": 0.25}}}}]}
        row = tables.row(study, [(self.future({"parameters": 7}), {None: self.future(evaluated)})])
        self.assertEqual((row["errors"], row["parameters"]), ({"test": [0.25]}, 7))

    def test_the_time_of_a_step_is_measured_by_a_short_training(self):
        workshop = mock.Mock()
        study = studies.Study("name", "title", "data", [studies.Case("one", ["--a"])])
        result = {"one": {}}
        with mock.patch("runs.fastest_step", return_value=0.002):
            tables.measure(study, workshop, {"data": "D"}, False, result)
        _, options, _ = workshop.trained.call_args.args
        self.assertEqual(options[-7:], ["--steps", "40", "--log-every", "10", "--validate-every",
                                        "40", "--a"])
        self.assertNotIn("--epochs", options)
        self.assertEqual(result["one"]["step_ms"], 2)

    @staticmethod
    def future(value):
        return mock.Mock(result=lambda: value)


if __name__ == "__main__":
    unittest.main()
