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
import pages  # noqa: E402


def results(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "FUNCATTN_DARCY"}
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
            self.assertFalse(lines["burgers"].endswith("(needs --published)"), lines["burgers"])

    def test_a_named_table_without_its_data_is_an_error(self):
        done = results("burgers", "darcy-grids", "darcy-long")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "./dev results: darcy-grids, darcy-long: needs the published Darcy data; "
                         "name their folder by --published\n")

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
        self.assertNotIn("yrange", gnuplot.call_args.kwargs["input"])


if __name__ == "__main__":
    unittest.main()
