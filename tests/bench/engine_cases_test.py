"""Tests of what bench/engine.py computes and of the limits that it runs programs under."""
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["FUNCATTN_SOURCE_DIR"], "bench"))
from engine_cases import Bench, better, ratio  # noqa: E402
from engine_goals import goals  # noqa: E402
from engine_tables import seconds_text, share_text, times_text  # noqa: E402
from measuring import Failed, Limits  # noqa: E402
from network_cost import flops_per_point, growth_exponent, memory_allowance  # noqa: E402

MODEL = {"form": "shared_basis_tied", "width": 8, "heads": 2, "basis": 5, "blocks": 3,
         "mlp_ratio": 2, "coordinate_dimension": 3, "value_features": 1, "out_features": 2}
PUBLISHED = {**MODEL, "width": 128, "heads": 8, "basis": 64, "blocks": 8, "mlp_ratio": 1,
             "value_features": 0, "out_features": 1}
GIB = 2**30


def run_of(seconds, peak_bytes=1000):
    return {"seconds": {"best": seconds}, "peak_bytes": peak_bytes}


class NetworkCost(unittest.TestCase):
    def test_operations_counted_layer_by_layer(self):
        lifting = 2 * (4 * 16) + 2 * (16 * 8)
        linear = 2 * 8 * 8  # in_project_x; in_project_fx and to_out cost the same
        head = 3 * 2 * (5 * 4)  # logits, coefficients and reconstruction with 4 channels
        mlp = 2 * (8 * 16) + 2 * (16 * 8)
        expected = lifting + 3 * (3 * linear + 2 * head + mlp) + 2 * (8 * 2)
        self.assertEqual(flops_per_point(MODEL), expected)

    def test_published_network(self):
        self.assertAlmostEqual(1e-6 * flops_per_point(PUBLISHED), 1.77, delta=0.005)

    def test_allowance(self):
        self.assertEqual(memory_allowance(PUBLISHED, 1000), 1.3 * 1000 * 512 + 64 * 1024 * 1024)

    def test_exponent_of_a_power_law(self):
        sizes = [10, 100, 3000, 70000]
        self.assertAlmostEqual(growth_exponent(sizes, [7 * n**1.25 for n in sizes]), 1.25)

    def test_exponent_is_a_least_squares_slope(self):
        # Slopes 1 and 2 between three sizes at equal distances: the fit takes the outer two.
        self.assertAlmostEqual(growth_exponent([1, 10, 100], [1, 10, 1000]), 1.5)

    def test_no_exponent_of_one_size(self):
        self.assertIsNone(growth_exponent([10], [3]))


class Comparisons(unittest.TestCase):
    def test_ratio(self):
        self.assertEqual(ratio(run_of(6, 3000), run_of(2), "seconds"),
                         {"times": 3, "at_least": False})
        self.assertEqual(ratio(run_of(6, 3000), run_of(2), "peak_bytes")["times"], 3)

    def test_ratio_to_an_exceeded_limit_is_a_bound(self):
        exceeded = {"exceeded": "time", "limit": 300}
        found = ratio(exceeded, run_of(2), "seconds")
        self.assertEqual(found, {"times": 150, "at_least": True})
        self.assertEqual(times_text(found), ">150.00")
        self.assertEqual(share_text(found), "<0.01")
        self.assertIsNone(ratio(exceeded, run_of(2), "peak_bytes"))
        self.assertIsNone(ratio({"exceeded": "memory"}, run_of(2), "seconds"))
        self.assertIsNone(ratio(run_of(2), exceeded, "seconds"))

    def test_better(self):
        exceeded = {"exceeded": "time", "limit": 300}
        self.assertEqual(better(None, run_of(2)), run_of(2))
        self.assertEqual(better(run_of(3), run_of(2)), run_of(2))
        self.assertEqual(better(run_of(2), run_of(3)), run_of(2))
        self.assertEqual(better(exceeded, run_of(3)), run_of(3))
        self.assertEqual(better(run_of(3), exceeded), run_of(3))
        run, expected = exceeded, {**exceeded, "expected_seconds": 700}
        self.assertEqual(better(run, expected), run)

    def test_limits_are_shown(self):
        self.assertEqual(seconds_text({"exceeded": "time", "limit": 300}), ">300 s")
        self.assertEqual(
            seconds_text({"exceeded": "time", "limit": 300, "expected_seconds": 700}), ">300 s*")
        self.assertEqual(seconds_text({"exceeded": "memory"}), "no memory")


class Goals(unittest.TestCase):
    def verdicts(self, **changes):
        row = {"points": 1000, "threads": 2, "speed_tuned": {"times": 6, "at_least": False},
               "speed_default": {"times": 41, "at_least": True},
               "share_of_matrix_rate": {"chosen": 0.9, "avx512": 0.6},
               "share_of_allowance": 0.9, **changes}
        return {goal["goal"]: goal["met"] for goal in goals({"inference": [row]})}

    def test_met(self):
        self.assertEqual(set(self.verdicts().values()), {True})

    def test_missed(self):
        verdicts = self.verdicts(speed_tuned={"times": 4.9, "at_least": False},
                                 share_of_matrix_rate={"chosen": 0.9, "avx512": 0.5},
                                 share_of_allowance=1.01)
        self.assertEqual(verdicts, {"speed_tuned": False, "speed_default": True,
                                    "share_of_matrix_rate": False, "share_of_allowance": False})

    def test_a_lower_bound_does_not_miss(self):
        verdicts = self.verdicts(speed_default={"times": 39, "at_least": True})
        self.assertIsNone(verdicts["speed_default"])


class Scripted:
    """Limits whose programs are a function from points to their report."""
    seconds = 100

    def __init__(self, report):
        self.report = report
        self.points = []  # Of the measurements that were run.

    def require(self, command):
        return {"operator": "o", "parameters": 1, "model": PUBLISHED, "gflops": 200}

    def run(self, command, environment=None):
        self.points.append(command[command.index("--points") + 1])
        return self.report(self.points[-1])


class Cases(unittest.TestCase):
    def bench(self, report, rounds=1):
        self.limits = Scripted(report)
        return Bench("program", pathlib.Path("folder"), "shared_basis_tied", {"avx512": False},
                     self.limits, rounds, 1)

    def test_figures_of_inference(self):
        row = self.bench(lambda n: run_of(n * 1e-5, 2**20)).inference(10000, 2)
        self.assertAlmostEqual(row["funcattn"]["gflops"], 1e-4 * flops_per_point(PUBLISHED))
        self.assertAlmostEqual(row["share_of_matrix_rate"]["chosen"],
                               row["funcattn"]["gflops"] / 200)
        self.assertAlmostEqual(row["share_of_allowance"],
                               2**20 / memory_allowance(PUBLISHED, 10000))
        self.assertEqual(row["speed_tuned"], {"times": 1, "at_least": False})

    def test_expected_to_exceed_the_time_is_not_run(self):
        bench = self.bench(lambda n: run_of(n * 1e-3))
        bench.inference(1000, 2)
        row = bench.inference(200000, 2)
        self.assertEqual(row["funcattn"]["expected_seconds"], 200)
        self.assertEqual(set(self.limits.points), {1000})
        self.assertIn("seconds", bench.inference(90000, 2)["funcattn"])

    def test_exceeded_is_not_run_again(self):
        for reason in ("time", "memory"):
            bench = self.bench(lambda n: {"exceeded": reason}, rounds=3)
            row = bench.inference(1000, 2)
            self.assertEqual(row["funcattn"]["exceeded"], reason)
            self.assertNotIn("expected_seconds", row["funcattn"])
            self.assertEqual(self.limits.points, [1000] * 3)  # Each contestant once.

    def test_growth_leaves_out_what_exceeds(self):
        bench = self.bench(lambda n: run_of(n * 1e-3, n * 100) if n < 1000 else
                           {"exceeded": "memory"})
        row = bench.growth("points", [10, 100, 1000], None, 2)
        self.assertEqual(row["sizes"], [10, 100])
        self.assertAlmostEqual(row["time_exponent"], 1)
        self.assertEqual(row["exceeded"], [{"size": 1000, "exceeded": "memory"}])

    def test_results_must_agree(self):
        with self.assertRaisesRegex(Failed, "differ by 2.0e-03"):
            self.bench(lambda n: {**run_of(1), "difference": 2e-3}).inference(10, 1)

    def test_losses_must_agree(self):
        losses = iter([1.0, 1.001, 1.0])
        with self.assertRaisesRegex(Failed, "first loss of funcattn, 1.0"):
            self.bench(lambda n: {**run_of(1), "losses": [next(losses)]}).training(10, 1)


class LimitedPrograms(unittest.TestCase):
    def run_python(self, code, seconds=60, memory=4 * GIB):
        return Limits(seconds, memory).run([sys.executable, "-c", code])

    def test_result(self):
        self.assertEqual(self.run_python("print('{\"a\": [1.5]}')"), {"a": [1.5]})

    def test_time(self):
        start = time.monotonic()
        found = self.run_python("import time; time.sleep(60)", seconds=0.5)
        self.assertEqual(found, {"exceeded": "time"})
        self.assertLess(time.monotonic() - start, 20)

    def test_memory(self):
        found = self.run_python(f"bytearray({2 * GIB})", memory=GIB)
        self.assertEqual(found, {"exceeded": "memory"})

    def test_what_is_required_may_not_exceed(self):
        with self.assertRaisesRegex(Failed, "exceeds the limit of time"):
            Limits(0.5, GIB).require([sys.executable, "-c", "import time; time.sleep(60)"])

    def test_other_failures_are_failures(self):
        with self.assertRaisesRegex(Failed, "exit status 3: sorry"):
            self.run_python("import sys; sys.stderr.write('sorry'); sys.exit(3)")


if __name__ == "__main__":
    unittest.main()
