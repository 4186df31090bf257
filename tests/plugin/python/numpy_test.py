"""NumPy points, fields and weights."""

import unittest
import warnings

import numpy as np
from support import SINE, SURROGATE, array, points_of, read

import funcattn

warnings.simplefilter("error", funcattn.OperatorWarning)


def grid():
    """The points of a mesh and the operator's inputs there."""
    mesh = read("grid.vtu")
    return mesh, points_of(mesh), {"load": array(mesh, "load"), "force": array(mesh, "force")}


class Numpy(unittest.TestCase):
    def test_the_same_as_the_mesh_with_the_same_weights(self):
        mesh, points, fields = grid()
        expected = funcattn.run(mesh, SURROGATE, weights="uniform", threads=1)
        result = funcattn.run(points, SURROGATE, fields=fields, weights="uniform", threads=1)
        self.assertEqual(list(result), ["pressure", "displacement"])
        self.assertEqual(result["pressure"].shape, (30,))
        self.assertEqual(result["displacement"].shape, (30, 3))
        self.assertEqual(result["pressure"].dtype, np.float64)
        for name, values in result.items():
            np.testing.assert_array_equal(values, array(expected, name + "_predicted"))

    def test_types_and_layouts(self):
        _, points, fields = grid()
        points = points.astype(np.float32)
        expected = funcattn.run(points, SURROGATE, fields=fields, weights="uniform")["pressure"]
        other = {"load": fields["load"].astype(">f8"),
                 "force": np.asfortranarray(np.repeat(fields["force"], 2, axis=1)[:, ::2])}
        for given in (points[:, :2], np.asfortranarray(points), points.tolist(),
                      np.repeat(points, 2, axis=0)[::2]):
            result = funcattn.run(given, SURROGATE, fields=other, weights="uniform")["pressure"]
            np.testing.assert_array_equal(result, expected)

    def test_results_outlive_what_they_came_from(self):
        _, points, fields = grid()
        result = funcattn.run(points, SURROGATE, fields=fields, weights="uniform")["pressure"]
        before = result.copy()
        for _ in range(3):
            funcattn.run(points + 0.01, SURROGATE, fields=fields, nan="mask",
                         weights=np.arange(30.0))
        np.testing.assert_array_equal(result, before)

    def test_weights(self):
        _, points, fields = grid()
        uniform = funcattn.run(points, SURROGATE, fields=fields, weights="uniform")["pressure"]
        ones = funcattn.run(points, SURROGATE, fields=fields, weights=np.full(30, 2))["pressure"]
        np.testing.assert_allclose(ones, uniform, rtol=1e-12)
        # Splitting a point into two of half the weight changes nothing.
        split = {name: np.concatenate([values, values[:1]]) for name, values in fields.items()}
        weights = np.ones(31)
        weights[[0, 30]] = 0.5
        halves = funcattn.run(np.concatenate([points, points[:1]]), SURROGATE, fields=split,
                              weights=weights)["pressure"]
        np.testing.assert_allclose(halves[:30], uniform, rtol=1e-9)

    def test_what_is_masked_is_nan(self):
        _, points, fields = grid()
        options = {"weights": "uniform", "threads": 1}
        mask = np.arange(30) == 7
        hidden = np.where(mask, 1e6, fields["load"])  # What stands behind a mask must not count.
        masked = {**fields, "load": np.ma.array(hidden, mask=mask)}
        nan = {**fields, "load": np.where(mask, np.nan, fields["load"])}
        with self.assertRaisesRegex(funcattn.DataError, "'load' .*NaN.*first at index 7"):
            funcattn.run(points, SURROGATE, fields=masked, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", funcattn.OperatorWarning)
            expected = funcattn.run(points, SURROGATE, fields=nan, nan="mask", **options)
            for name, values in funcattn.run(points, SURROGATE, fields=masked, nan="mask",
                                             **options).items():
                np.testing.assert_array_equal(values, expected[name])
                np.testing.assert_array_equal(np.isnan(values.reshape(30, -1)).any(axis=1), mask)
            of_points = funcattn.run(np.ma.array(points, mask=np.outer(mask, [1, 0, 0])), SURROGATE,
                                     fields=fields, nan="mask", **options)
            np.testing.assert_array_equal(of_points["pressure"], expected["pressure"])
            whole = np.ma.array(np.arange(30), mask=mask)
            of_whole = funcattn.run(points, SURROGATE, fields={**fields, "load": whole}, nan="mask",
                                    **options)["pressure"]
            np.testing.assert_array_equal(np.isnan(of_whole), mask)
        plain = funcattn.run(points, SURROGATE, fields=fields, **options)["pressure"]
        nothing_masked = {**fields, "load": np.ma.array(fields["load"], mask=False)}
        np.testing.assert_array_equal(
            funcattn.run(points, SURROGATE, fields=nothing_masked, **options)["pressure"], plain)
        self.assert_fails(funcattn.DataError, "weights are masked .*filled", points, SURROGATE,
                          fields=fields, weights=np.ma.array(np.ones(30), mask=mask))

    def test_one_dimension_and_a_sine(self):
        x = np.linspace(-6, 6, 201)
        known = np.arange(201) % 20 == 0
        y = 2 * np.sin(x - 0.3)
        result = funcattn.run(x, SINE, fields={"y_context": np.where(known, y, 0), "context": known})
        self.assertLess(abs(result["y"] - y).max(), 2e-3)

    def test_a_query(self):
        mesh, points, fields = grid()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", funcattn.OperatorWarning)
            at_points = funcattn.run(points, SURROGATE, fields=fields, weights="uniform", query=points,
                                     query_fields=fields)
            plain = funcattn.run(points, SURROGATE, fields=fields, weights="uniform")
            np.testing.assert_allclose(at_points["pressure"], plain["pressure"], rtol=1e-9)
            on_mesh = funcattn.run(points, SURROGATE, fields=fields, weights="uniform",
                                   query=mesh)
        np.testing.assert_allclose(array(on_mesh, "pressure_predicted"), plain["pressure"],
                                   rtol=1e-9)

    def assert_fails(self, kind, text, *arguments, **options):
        with self.assertRaisesRegex(kind, text):
            funcattn.run(*arguments, **options)

    def test_errors(self):
        _, points, fields = grid()
        data, usage = funcattn.DataError, funcattn.UsageError
        self.assert_fails(data, "1 columns, but the operator uses the coordinates x, y",
                          points[:, 0], SURROGATE, fields=fields)
        self.assert_fails(data, "with D from 1 to 3", np.zeros((30, 4)), SURROGATE, fields=fields)
        self.assert_fails(data, "shape", np.zeros((3, 3, 3)), SURROGATE, fields=fields)
        self.assert_fails(data, "expected numbers", np.full((30, 2), "a"), SURROGATE, fields=fields)
        self.assert_fails(data, "'load' has 29 rows, expected one per point: 30", points, SURROGATE,
                          fields={**fields, "load": np.zeros(29)})
        self.assert_fails(data, "weights has 3 rows", points, SURROGATE, fields=fields,
                          weights=np.ones(3))
        self.assert_fails(data, "holds -1 at point 0", points, SURROGATE, fields=fields,
                          weights=np.full(30, -1.0))
        self.assert_fails(data, "no point array 'load'", points, SURROGATE, weights="uniform")
        self.assert_fails(data, "use uniform weights", points, SURROGATE, fields=fields)
        self.assert_fails(data, "'force'.* 2 components", points, SURROGATE, weights="uniform",
                          fields={**fields, "force": np.zeros((30, 2))})
        self.assert_fails(usage, "did you mean 'load'", points, SURROGATE,
                          fields={**fields, "laod": np.zeros(30)})
        self.assert_fails(usage, "fields are .1., expected a dictionary", points, SURROGATE, fields=[1])
        self.assert_fails(usage, "'suffix' has no effect on NumPy results", points, SURROGATE,
                          fields=fields, suffix="_a")
        self.assert_fails(usage, "'overwrite' has no effect on NumPy results", points, SURROGATE,
                          fields=fields, overwrite=True)
        self.assert_fails(usage, 'nan="mask"', points, SURROGATE, fields=fields, nan="drop")


if __name__ == "__main__":
    unittest.main()
