"""Tests of what bench/engine.py computes and of the limits that it runs programs under."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["FUNCATTN_SOURCE_DIR"], "bench"))
from engine_cases import better, ratio  # noqa: E402
from engine_report import goals, seconds_text, share_text, times_text  # noqa: E402
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

    def test_other_failures_are_failures(self):
        with self.assertRaisesRegex(Failed, "exit status 3: sorry"):
            self.run_python("import sys; sys.stderr.write('sorry'); sys.exit(3)")


if __name__ == "__main__":
    unittest.main()
