"""funcattn.run and funcattn.Operator on VTK data: values, kinds, options, errors, threads."""

import copy
import gc
import math
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import types
import unittest
import warnings
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
from support import FIXTURES, PARAMETRIC, SURROGATE, array, points_of, read
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkPolyData, vtkTable
from vtkmodules.vtkCommonExecutionModel import vtkTrivialProducer

import funcattn


def filter_output(mesh):
    """What the filter alone gives."""
    algorithm = funcattn.vtkNeuralOperator()
    algorithm.SetFileName(SURROGATE)
    algorithm.SetThreads(1)
    algorithm.SetInputDataObject(0, mesh)
    algorithm.Update()
    return algorithm.GetOutputDataObject(0)


class Run(unittest.TestCase):
    def test_every_kind_of_mesh_comes_back_with_the_prediction(self):
        for name in ("grid.vtu", "image.vti"):
            mesh = read(name)
            result = funcattn.run(mesh, SURROGATE, threads=1)
            self.assertIs(type(result), type(mesh))
            expected = array(filter_output(mesh), "pressure_predicted")
            np.testing.assert_array_equal(array(result, "pressure_predicted"), expected)
            self.assertEqual(array(result, "displacement_predicted").shape, (len(expected), 3))
            self.assertIsNone(mesh.GetPointData().GetArray("pressure_predicted"))

    def test_trees_keep_their_structure(self):
        blocks = read("blocks.vtm")
        result = funcattn.run(blocks, str(SURROGATE), threads=1)
        self.assertIsInstance(result, vtkMultiBlockDataSet)
        self.assertEqual(result.GetNumberOfBlocks(), 3)
        self.assertIsNone(result.GetBlock(1))
        together = array(result.GetBlock(2), "pressure_predicted")
        apart = funcattn.run(blocks, SURROGATE, per_block=True, threads=1)
        alone = funcattn.run(blocks.GetBlock(2), SURROGATE, threads=1)
        np.testing.assert_array_equal(array(apart.GetBlock(2), "pressure_predicted"),
                                      array(alone, "pressure_predicted"))
        self.assertGreater(abs(together - array(alone, "pressure_predicted")).max(), 1e-6)

    def test_a_query_is_what_comes_back(self):
        query = read("image.vti")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", funcattn.OperatorWarning)
            result = funcattn.run(read("grid.vtu"), SURROGATE, query=query, threads=1)
        self.assertIsInstance(result, vtkImageData)
        self.assertEqual(len(array(result, "pressure_predicted")), query.GetNumberOfPoints())

    def test_an_operator_is_loaded_once(self):
        operator = funcattn.Operator(SURROGATE)
        self.assertEqual([item["name"] for item in operator.contract["outputs"]],
                         ["pressure", "displacement"])
        self.assertEqual(operator.contract["outputs"][0]["unit"], "Pa")
        mesh = read("grid.vtu")
        first = operator.run(mesh, threads=1, suffix="_a")
        second = funcattn.run(first, operator, threads=1, suffix="_b")
        np.testing.assert_array_equal(array(second, "pressure_a"), array(second, "pressure_b"))

    def test_options_reach_the_filter(self):
        mesh = read("nan.vtu")
        with self.assertWarnsRegex(funcattn.OperatorWarning, "1 of 30 points hold NaN"):
            masked = funcattn.run(mesh, SURROGATE, nan="mask", threads=1)
        self.assertEqual(list(np.flatnonzero(np.isnan(array(masked, "pressure_predicted")))), [8])
        with self.assertWarnsRegex(funcattn.OperatorWarning, "1 of 30 points hold NaN"):
            dropped = funcattn.run(mesh, SURROGATE, nan="drop", threads=1)
        self.assertEqual(dropped.GetNumberOfPoints(), 29)
        plain = array(funcattn.run(read("grid.vtu"), SURROGATE, threads=1), "pressure_predicted")
        uniform = array(funcattn.run(read("grid.vtu"), SURROGATE, threads=1, weights="uniform"),
                        "pressure_predicted")
        self.assertGreater(abs(plain - uniform).max(), 1e-6)
        for memory in ("spilled", "recomputed"):
            again = funcattn.run(read("grid.vtu"), SURROGATE, threads=1, memory=memory,
                                 tile_points=16)
            np.testing.assert_allclose(array(again, "pressure_predicted"), plain, rtol=1e-12)

    def test_pyvista_objects_come_back_as_such(self):
        class UnstructuredGrid(type(read("grid.vtu"))):
            __module__ = "pyvista.core.pointset"

        wrapped = []
        stand_in = types.ModuleType("pyvista")
        stand_in.wrap = lambda data: wrapped.append(data) or "a PyVista object"
        sys.modules["pyvista"] = stand_in
        self.addCleanup(sys.modules.pop, "pyvista")
        mesh = UnstructuredGrid()
        mesh.ShallowCopy(read("grid.vtu"))
        self.assertEqual(funcattn.run(mesh, SURROGATE, threads=1), "a PyVista object")
        self.assertEqual(len(array(wrapped[0], "pressure_predicted")), 30)


class Choose(unittest.TestCase):
    """Outputs, parameters, device and the look inside."""

    def names(self, data):
        return [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]

    def pressure(self, name, **options):
        result = funcattn.run(read(name), PARAMETRIC, threads=1, **options)
        return array(result, "pressure_predicted")

    def test_parameters_count_more_than_field_data(self):
        as_in_the_file = self.pressure("flow.vtu")
        np.testing.assert_array_equal(self.pressure("flow.vtu", parameters={"force": [0.5, -0.5, 2]}),
                                      as_in_the_file)
        for given in ((0.75, -0.5, 2), np.array([0.75, -0.5, 2]),
                      [np.array(0.75), np.float32(-0.5), Fraction(2)]):
            changed = self.pressure("flow.vtu", parameters={"force": given})
            algorithm = funcattn.vtkNeuralOperator()
            algorithm.SetFileName(PARAMETRIC)
            algorithm.SetThreads(1)
            algorithm.SetInputDataObject(0, read("flow.vtu"))
            algorithm.SetParameter("force", 3, [0.75, -0.5, 2])
            algorithm.Update()
            np.testing.assert_array_equal(
                changed, array(algorithm.GetOutputDataObject(0), "pressure_predicted"))
            self.assertGreater(abs(changed - as_in_the_file).max(), 1e-6)

    def test_a_number_alone_is_a_parameter_of_one_component(self):
        for number in (2, 2.0, np.float64(2), np.array(2), [2], np.array([2])):
            with self.assertRaisesRegex(funcattn.UsageError, "was given 1 number"):
                self.pressure("flow.vtu", parameters={"force": number})

    def test_a_parameter_outside_the_training_range_is_a_warning(self):
        with self.assertWarnsRegex(funcattn.OperatorWarning, "'force' is .0.5, 7, 2. N, training had"):
            self.pressure("flow.vtu", parameters={"force": [0.5, 7, 2]})

    def test_the_contract_has_names_units_and_ranges(self):
        force = funcattn.Operator(PARAMETRIC).contract["inputs"][1]
        self.assertEqual((force["name"], force["role"], force["unit"], force["min"], force["max"]),
                         ("force", "parameter", "N", [0, -1, 2], [1, 0, 2]))

    def test_outputs(self):
        mesh = read("grid.vtu")
        plain = funcattn.run(mesh, SURROGATE, threads=1)
        chosen = funcattn.run(mesh, SURROGATE, threads=1, outputs=["displacement"])
        self.assertEqual([name for name in self.names(chosen.GetPointData()) if "_pred" in name],
                         ["displacement_predicted"])
        np.testing.assert_array_equal(array(chosen, "displacement_predicted"),
                                      array(plain, "displacement_predicted"))

    def test_device(self):
        mesh = read("grid.vtu")
        np.testing.assert_array_equal(
            array(funcattn.run(mesh, SURROGATE, threads=1, device="cpu"), "pressure_predicted"),
            array(funcattn.run(mesh, SURROGATE, threads=1), "pressure_predicted"))

    def test_the_cpu_in_place_of_a_gpu_is_a_warning(self):
        with mock.patch.dict("os.environ", CUDA_VISIBLE_DEVICES=""):
            with self.assertWarnsRegex(funcattn.OperatorWarning, "no GPU .*computed on the CPU"):
                result = funcattn.run(read("grid.vtu"), SURROGATE, threads=1, device="auto")
        np.testing.assert_array_equal(
            array(result, "pressure_predicted"),
            array(funcattn.run(read("grid.vtu"), SURROGATE, threads=1), "pressure_predicted"))

    def test_basis_and_transport(self):
        mesh = read("grid.vtu")
        plain = funcattn.run(mesh, SURROGATE, threads=1)
        result = funcattn.run(mesh, SURROGATE, threads=1, add_basis=True, add_transport=True,
                              inspect_blocks=[2])
        np.testing.assert_array_equal(array(result, "pressure_predicted"),
                                      array(plain, "pressure_predicted"))
        np.testing.assert_allclose(array(result, "basis_block2_head1").sum(axis=1), 1, atol=1e-12)
        self.assertFalse(result.GetPointData().HasArray("basis_block1_head1"))
        self.assertEqual(vtk_to_numpy(result.GetFieldData().GetArray("transport_block2_head2")).shape,
                         (5, 5))

    def test_numpy_points_get_what_was_asked_for(self):
        mesh = read("grid.vtu")
        options = {"fields": {"load": array(mesh, "load")}, "threads": 1, "weights": "uniform",
                   "parameters": {"force": [0.5, -0.5, 2]}}
        plain = funcattn.run(points_of(mesh), PARAMETRIC, **options)
        self.assertEqual(list(plain), ["pressure", "displacement"])
        result = funcattn.run(points_of(mesh), PARAMETRIC, outputs=["pressure"], add_basis=True,
                              add_transport=True, inspect_blocks=[1], **options)
        self.assertEqual(sorted(name for name in result if "head1" in name or "block" not in name),
                         ["basis_block1_head1", "pressure", "transport_block1_head1"])
        np.testing.assert_array_equal(result["pressure"], plain["pressure"])
        self.assertEqual(result["basis_block1_head1"].shape, (30, 5))
        self.assertEqual(result["transport_block1_head1"].shape, (5, 5))


class Warn(unittest.TestCase):
    def test_what_is_remarkable_is_a_warning(self):
        with self.assertWarnsRegex(funcattn.OperatorWarning, "9 points") as caught:
            funcattn.run(read("coarse.vtu"), SURROGATE, threads=1)
        self.assertEqual(caught.filename, __file__)

    def test_no_points_is_a_warning_and_an_empty_array(self):
        with self.assertWarnsRegex(funcattn.OperatorWarning, "no points"):
            result = funcattn.run(vtkPolyData(), SURROGATE)
        self.assertEqual(len(array(result, "pressure_predicted")), 0)


class Fail(unittest.TestCase):
    def assert_fails(self, kind, text, *arguments, **options):
        with self.assertRaisesRegex(kind, text) as caught:
            funcattn.run(*arguments, **options)
        self.assertIs(type(caught.exception), kind)
        self.assertIsInstance(caught.exception, funcattn.Error)

    def test_files(self):
        mesh = read("grid.vtu")
        self.assert_fails(funcattn.FileError, "nowhere.safetensors", mesh, "nowhere.safetensors")
        self.assert_fails(funcattn.OperatorFileError, "checksum", mesh,
                          FIXTURES / "damaged.safetensors")

    def test_names_that_are_not_utf8(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = os.path.join(os.fsencode(folder.name), b"\xff.safetensors")
        self.assert_fails(funcattn.FileError, "\udcff.safetensors", read("grid.vtu"), file)
        shutil.copy(SURROGATE, file)
        operator = funcattn.Operator(file)
        self.assertEqual(operator.file, os.fsdecode(file))
        expected = array(funcattn.run(read("grid.vtu"), SURROGATE, threads=1), "pressure_predicted")
        for again in (operator, pickle.loads(pickle.dumps(operator))):
            np.testing.assert_array_equal(
                array(again.run(read("grid.vtu"), threads=1), "pressure_predicted"), expected)

    def test_data(self):
        self.assert_fails(funcattn.DataError, "no point array 'load'", read("no_load.vtu"),
                          SURROGATE)
        self.assert_fails(funcattn.DataError, "first at index 8", read("nan.vtu"), SURROGATE)
        self.assert_fails(funcattn.DataError, "block 'right'", read("blocks_lacking.vtm"),
                          SURROGATE)
        self.assert_fails(funcattn.DataError, "vtkTable", vtkTable(), SURROGATE)
        self.assert_fails(funcattn.DataError, "vtkTrivialProducer", vtkTrivialProducer(), SURROGATE)
        self.assert_fails(funcattn.DataError, "a str", "grid.vtu", SURROGATE)

    def test_options(self):
        mesh = read("grid.vtu")
        self.assert_fails(funcattn.UsageError, "did you mean 'threads'", mesh, SURROGATE, thread=1)
        self.assert_fails(funcattn.UsageError, "'threads' is -1", mesh, SURROGATE, threads=-1)
        self.assert_fails(funcattn.UsageError, "'threads' is True", mesh, SURROGATE, threads=True)
        self.assert_fails(funcattn.UsageError, '"mask"', mesh, SURROGATE, nan="maks")
        self.assert_fails(funcattn.UsageError, "'overwrite' is 1", mesh, SURROGATE, overwrite=1)
        self.assert_fails(funcattn.UsageError, "cubature", mesh, SURROGATE, weights="cubature")
        self.assert_fails(funcattn.UsageError, "query_fields", mesh, SURROGATE, query_fields={})
        self.assert_fails(funcattn.UsageError, "holds its arrays", mesh, SURROGATE, fields={})
        self.assert_fails(funcattn.UsageError, "array:NAME", mesh, SURROGATE, weights=np.ones(30))

    def test_values_that_no_option_can_have(self):
        mesh = read("grid.vtu")
        force = "'parameters' is .*, expected a dictionary from names to a number"
        for text, options in {
                "'threads' is 2147483648, expected a whole number": {"threads": 2**31},
                "5000 are more than 1024": {"threads": 5000},
                "'threads' is 1.5": {"threads": 1.5},
                "'tile_points' is 1099511627776": {"tile_points": 2**40},
                "'threads' is 1000.*\\.\\.\\., expected": {"threads": 10**4000},
                "'inspect_blocks' is .1180591620717411303424.": {"add_basis": True,
                                                                "inspect_blocks": [2**70]},
                "'inspect_blocks' is .0.": {"add_basis": True, "inspect_blocks": [0]},
                "'inspect_blocks' is array.1.": {"add_basis": True, "inspect_blocks": np.array(1)},
                "'nan' is array": {"nan": np.array(["mask", "drop"])},
                "'memory' is .'spilled'.": {"memory": ["spilled"]},
                "'suffix' is 'a.x00b', expected a text without NUL": {"suffix": "a\0b"},
                "'suffix' is '.udc80', expected a text without": {"suffix": "\udc80"},
                "'outputs' is .'.udc80'.": {"outputs": ["\udc80"]},
                "weights are 'array:.udc80'": {"weights": "array:\udc80"},
                "'outputs' is .'a.x00b'.": {"outputs": ["a\0b"]},
                "'device' is 'cpu.x00'": {"device": "cpu\0"},
                "'spill_folder' is 'a.x00b', expected a path without NUL":
                    {"memory": "spilled", "spill_folder": "a\0b"},
                "'spill_folder' is 3": {"memory": "spilled", "spill_folder": 3},
                "weights are 'uniform.x00'": {"weights": "uniform\0"},
                "progress is 3, expected a function": {"progress": 3},
        }.items():
            with self.subTest(text):
                self.assert_fails(funcattn.UsageError, text, mesh, SURROGATE, **options)
        for value in (2**2000, [2**2000, 0, 0], 1j, True, "1", [[1, 2, 3]], {1: 2, 3: 4, 5: 6},
                      {1, 2, 3}, None, np.bool_(True), np.ma.masked,
                      np.ma.array([1, 2, 3], mask=[0, 1, 0])):
            with self.subTest(value):
                self.assert_fails(funcattn.UsageError, force, mesh, PARAMETRIC,
                                  parameters={"force": value})
        self.assert_fails(funcattn.UsageError, "'parameters'", mesh, PARAMETRIC,
                          parameters={"a\0b": 1})
        for value in (math.nan, math.inf):
            self.assert_fails(funcattn.UsageError, "'force'", mesh, PARAMETRIC,
                              parameters={"force": [value, 0, 2]})
        self.assert_fails(funcattn.UsageError, "the operator is 3, expected a path", mesh, 3)
        self.assert_fails(funcattn.UsageError, "the operator is 'a.x00b'", mesh, "a\0b")

    def test_values_of_numpy_are_those_of_python(self):
        result = funcattn.run(read("grid.vtu"), SURROGATE, threads=np.int64(1), tile_points=np.array(16),
                              overwrite=np.bool_(True), outputs=np.array(["pressure"]))
        self.assertEqual(len(array(result, "pressure_predicted")), 30)

    def test_options_without_effect(self):
        mesh = read("grid.vtu")
        for text, options in {
                "'inspect_blocks' has no effect without 'add_basis'": {"inspect_blocks": [1]},
                "'spill_folder' has no effect without memory='spilled'": {"spill_folder": "."},
                "'interpolate_inputs' has no effect without a query": {"interpolate_inputs": True},
        }.items():
            self.assert_fails(funcattn.UsageError, text, mesh, SURROGATE, **options)
        funcattn.run(mesh, SURROGATE, interpolate_inputs=False)

    def test_outputs_parameters_and_devices(self):
        mesh = read("grid.vtu")
        for text, options in {
                "no output 'presure'; it predicts pressure, displacement": {"outputs": ["presure"]},
                "'outputs' is 'pressure', expected a list": {"outputs": "pressure"},
                "'outputs' is \\[\\], expected": {"outputs": []},
                "no parameter 'angle'; it has none": {"parameters": {"angle": 1}},
                "'parameters' is 1, expected a dictionary": {"parameters": 1},
                "'one'.*, expected a dictionary from names to": {"parameters": {"angle": ["one"]}},
                "unknown device 'gpu'": {"device": "gpu"},
                "cuda:99 is not there": {"device": "cuda:99"},
                "'add_basis' is 1": {"add_basis": 1},
                "no block 3": {"add_transport": True, "inspect_blocks": [3]},
                "'inspect_blocks' is 1": {"inspect_blocks": 1}}.items():
            with self.subTest(text):
                self.assert_fails(funcattn.UsageError, text, mesh, SURROGATE, **options)
        self.assert_fails(funcattn.UsageError, "'force' .3 numbers,.* was given 2 numbers", mesh,
                          PARAMETRIC, parameters={"force": [1, 2]})
        self.assert_fails(funcattn.UsageError, "was given 0 numbers", mesh, PARAMETRIC,
                          parameters={"force": []})
        self.assert_fails(funcattn.DataError, "no value for the parameter 'force'", mesh, PARAMETRIC)
        self.assert_fails(funcattn.UsageError, "'force' is a parameter of the operator",
                          points_of(mesh), PARAMETRIC, fields={"force": np.ones((30, 3))})

    def test_hosts_that_silence_vtk_get_the_exception(self):
        vtkObject.GlobalWarningDisplayOff()
        self.addCleanup(vtkObject.GlobalWarningDisplayOn)
        self.assert_fails(funcattn.DataError, "no point array 'load'", read("no_load.vtu"),
                          SURROGATE)
        with self.assertWarnsRegex(funcattn.OperatorWarning, "9 points"):
            funcattn.run(read("coarse.vtu"), SURROGATE)

    def test_a_failed_run_leaves_the_operator_usable(self):
        operator = funcattn.Operator(SURROGATE)
        with self.assertRaises(funcattn.DataError):
            operator.run(read("nan.vtu"))
        self.assertEqual(len(array(operator.run(read("grid.vtu")), "pressure_predicted")), 30)


class Progress(unittest.TestCase):
    def setUp(self):
        self.mesh = read("grid.vtu")

    def test_it_rises_to_one(self):
        told = []
        funcattn.run(self.mesh, SURROGATE, threads=1, tile_points=16, progress=told.append)
        self.assertGreater(len(told), 3)
        self.assertEqual(told, sorted(told))
        self.assertEqual(told[-1], 1)

    def test_false_cancels(self):
        for half in (0.5, np.float64(0.5)):
            with self.assertRaises(funcattn.Cancelled):
                funcattn.run(self.mesh, SURROGATE, progress=lambda fraction: fraction < half)

    def test_exceptions_in_it_are_raised(self):
        for kind in (ZeroDivisionError, KeyboardInterrupt):
            def raise_it(fraction, kind=kind):
                raise kind

            with self.assertRaises(kind):
                funcattn.run(self.mesh, SURROGATE, progress=raise_it)

    def test_ctrl_c_ends_a_run(self):
        told = []

        def interrupt(fraction):
            told.append(fraction)
            if len(told) == 2:
                signal.raise_signal(signal.SIGINT)

        handler = signal.getsignal(signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt):
            funcattn.run(self.mesh, SURROGATE, threads=1, tile_points=16, progress=interrupt)
        self.assertLess(told[-1], 1)
        self.assertIs(signal.getsignal(signal.SIGINT), handler)

    def test_a_handler_of_ctrl_c_that_returns_lets_the_run_go_on(self):
        expected = array(funcattn.run(self.mesh, SURROGATE, threads=1, tile_points=16),
                         "pressure_predicted")
        calls = []

        def handler(number, frame):
            calls.append(number)
            if len(calls) == 2:
                signal.signal(signal.SIGINT, signal.SIG_IGN)

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        for interrupts, after in ((1, handler), (2, signal.SIG_IGN)):
            told = []

            def interrupt(fraction, told=told, interrupts=interrupts):
                told.append(fraction)
                if len(told) <= interrupts:
                    signal.raise_signal(signal.SIGINT)

            calls.clear()
            result = funcattn.run(self.mesh, SURROGATE, threads=1, tile_points=16, progress=interrupt)
            np.testing.assert_array_equal(array(result, "pressure_predicted"), expected)
            self.assertEqual(calls, [signal.SIGINT] * interrupts)
            self.assertEqual(told[-1], 1)
            self.assertIs(signal.getsignal(signal.SIGINT), after)

    def test_what_a_handler_of_ctrl_c_raises_is_raised(self):
        def handler(number, frame):
            raise ZeroDivisionError

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        with self.assertRaises(ZeroDivisionError):
            funcattn.run(self.mesh, SURROGATE, threads=1, tile_points=16,
                         progress=lambda fraction: signal.raise_signal(signal.SIGINT))

    def test_nothing_is_kept_after_a_run(self):
        operator = funcattn.Operator(SURROGATE)
        operator.run(self.mesh)
        gc.collect()
        references = self.mesh.GetReferenceCount()
        before = self.mesh.GetMTime(), self.mesh.GetPointData().GetMTime()
        for _ in range(3):
            operator.run(self.mesh, progress=lambda fraction: None)
        self.assertEqual(self.mesh.GetReferenceCount(), references)
        self.assertEqual((self.mesh.GetMTime(), self.mesh.GetPointData().GetMTime()), before)


class Pickle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "op.safetensors"
        shutil.copy(SURROGATE, self.file)

    def test_it_is_the_file(self):
        text = pickle.dumps(funcattn.Operator(os.path.relpath(self.file)))
        operator = pickle.loads(text)
        self.assertEqual(operator.file, str(self.file))
        mesh = read("grid.vtu")
        np.testing.assert_array_equal(
            array(operator.run(mesh, threads=1), "pressure_predicted"),
            array(funcattn.run(mesh, SURROGATE, threads=1), "pressure_predicted"))
        self.assertEqual(copy.deepcopy(operator).file, str(self.file))

    def test_another_file_in_its_place_is_an_error(self):
        text = pickle.dumps(funcattn.Operator(self.file))
        shutil.copy(PARAMETRIC, self.file)
        with self.assertRaisesRegex(funcattn.OperatorFileError, "another file .* SHA-256"):
            pickle.loads(text)
        self.file.unlink()
        with self.assertRaisesRegex(funcattn.FileError, "op.safetensors.* No such file"):
            pickle.loads(text)


class Threads(unittest.TestCase):
    def test_runs_from_several_threads(self):
        operator = funcattn.Operator(SURROGATE)
        expected = array(operator.run(read("grid.vtu"), threads=1), "pressure_predicted").copy()
        results = []

        def work():
            mesh = read("grid.vtu")
            for _ in range(5):
                results.append(array(operator.run(mesh, threads=1), "pressure_predicted").copy())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 20)
        for result in results:
            np.testing.assert_array_equal(result, expected)


if __name__ == "__main__":
    unittest.main()
