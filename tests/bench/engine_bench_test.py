"""Tests of funcattn_engine_bench, and of funcattn against the eager PyTorch network."""
import array
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["FUNCATTN_ENGINE_BENCH"]
BENCH = pathlib.Path(os.environ["FUNCATTN_SOURCE_DIR"]) / "bench"
SMALL = ["--width", "24", "--heads", "3", "--blocks", "3", "--values", "2", "--outputs", "2"]
has_torch = importlib.util.find_spec("torch") is not None


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


class EngineBench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.operator = self.folder / "operator.safetensors"

    def json_of(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def make_operator(self, *options):
        return self.json_of(PROGRAM, "make-operator", "--output", self.operator, *options)

    def infer(self, output):
        report = self.json_of(PROGRAM, "inference", "--operator", self.operator, "--points", 700,
                              "--threads", 1, "--repeats", 2, "--output", self.folder / output)
        return report, array.array("f", (self.folder / output).read_bytes())

    def test_published_network(self):
        self.assertEqual(self.make_operator()["parameters"], 475089)

    def test_inference(self):
        self.make_operator(*SMALL)
        report, values = self.infer("first.raw")
        self.assertEqual(len(report["seconds"]["repeats"]), 2)
        best = min(report["seconds"]["repeats"])
        self.assertEqual(report["seconds"]["best"], best)
        self.assertAlmostEqual(report["microseconds_per_point"], 1e6 * best / 700)
        self.assertGreater(report["start_bytes"], 2**20)
        self.assertEqual(len(values), 1400)
        mean_square = sum(value * value for value in values) / len(values)
        self.assertAlmostEqual(report["root_mean_square"], mean_square**0.5, delta=1e-5)
        self.assertEqual(values, self.infer("second.raw")[1])

    def test_training_repeats_and_stops_in_time(self):
        self.make_operator(*SMALL)
        command = [PROGRAM, "training", "--operator", self.operator, "--points", 500,
                   "--threads", 1]
        report = self.json_of(*command, "--repeats", 3)
        self.assertEqual(len(report["losses"]), 4)
        self.assertEqual(len(report["seconds"]["repeats"]), 3)
        report = self.json_of(*command, "--repeats", 1000000, "--seconds", "1e-3")
        self.assertLess(len(report["losses"]), 100)

    def test_matrix(self):
        report = self.json_of(PROGRAM, "matrix", "--size", 64, "--threads", 1, "--repeats", 2)
        self.assertAlmostEqual(report["gflops"] * report["seconds"]["best"], 2e-9 * 64**3)

    def test_stage_from_file_to_file(self):
        self.make_operator("--width", 16, "--heads", 2, "--blocks", 1)
        source, target = self.folder / "in.vtu", self.folder / "out.vtu"
        made = self.json_of(PROGRAM, "make-mesh", "--points", 101, "--output", source)
        self.assertEqual((made["points"], made["cells"]), (100, 162))
        report = self.json_of(PROGRAM, "stage", "--operator", self.operator, "--input", source,
                              "--output", target)
        self.assertEqual(report["points"], 100)
        self.assertEqual(list(report["phases"]), ["read", "bind", "stage", "write", "compute"])
        self.assertIn(b'Name="result_predicted"', target.read_bytes())

    def test_usage(self):
        for arguments, text in [(["inferense"], "did you mean 'inference'"),
                                (["inference"], "option '--operator' is missing"),
                                (["make-operator", "-o", "x", "--form", "few_shot"], "no blocks"),
                                (["make-operator", "-o", "x", "--width", "30"], "30")]:
            done = run(PROGRAM, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)
        done = run(PROGRAM, "inference", "--operator", self.folder / "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read", done.stderr)

    @unittest.skipUnless(has_torch, "python3-torch is not installed (./dev setup --bench)")
    def test_agrees_with_eager_network(self):
        for form in ("shared_basis", "shared_basis_tied"):
            # Fewer and more basis functions than channels of a head: both sizes of the system.
            for basis in (5, 17):
                with self.subTest(form=form, basis=basis):
                    self.make_operator(*SMALL, "--form", form, "--basis", basis,
                                       "--dtype", "float64")
                    self.infer("result.raw")
                    command = [sys.executable, BENCH / "eager.py", "inference", "--repeats", 1,
                               "--operator", self.operator, "--points", 700]
                    report = self.json_of(*command, "--compare", self.folder / "result.raw")
                    self.assertLess(report["difference"], 2e-7)  # Of float32 in the file.
                    report = self.json_of(*command[:3], *command[5:], "--seed", 1, "--compare",
                                          self.folder / "result.raw")
                    self.assertGreater(report["difference"], 1e-3)

    @unittest.skipUnless(has_torch, "python3-torch is not installed (./dev setup --bench)")
    def test_trains_as_eager_network(self):
        self.make_operator(*SMALL, "--dtype", "float64")
        options = ["training", "--operator", self.operator, "--points", 300, "--repeats", 4,
                   "--threads", 1]
        ours = self.json_of(PROGRAM, *options)["losses"]
        eager = self.json_of(sys.executable, BENCH / "eager.py", *options)["losses"]
        self.assertEqual(len(ours), len(eager))
        self.assertNotAlmostEqual(ours[0], ours[-1], delta=1e-3)
        for a, b in zip(ours, eager):
            self.assertAlmostEqual(a, b, delta=1e-6 * abs(b))


if __name__ == "__main__":
    unittest.main()
