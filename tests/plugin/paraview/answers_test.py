"""The plugin in ParaView gives what the command gives on the same data."""

import numpy
import support
from paraview import servermanager, simple


class Answers(support.ParaViewTest):
    def check_against_command(self, source, suffix):
        """`source` is written by ParaView, run by the command, and read again."""
        mesh = self.folder / ("mesh" + suffix)
        simple.SaveData(str(mesh), proxy=source)
        expected = servermanager.Fetch(simple.OpenDataFile(str(self.run_command(mesh))))
        result = support.neural_operator(source)
        self.assert_same_answer(servermanager.Fetch(result), expected)
        return result

    def test_image(self):
        result = self.check_against_command(support.with_inputs(simple.Wavelet()), ".vti")
        self.assertIn("RTData", support.arrays_of(result))

    def test_surface(self):
        self.check_against_command(support.with_inputs(simple.Sphere(ThetaResolution=30)), ".vtp")

    def test_unstructured_grid(self):
        tetrahedra = simple.Tetrahedralize(Input=simple.Wavelet(WholeExtent=[-4, 4, -4, 4, 0, 3]))
        self.check_against_command(support.with_inputs(tetrahedra), ".vtu")

    def test_tree_with_an_empty_block(self):
        tree = simple.OpenDataFile(str(support.FIXTURES / "blocks.vtm"))
        expected = servermanager.Fetch(
            simple.OpenDataFile(str(self.run_command(support.FIXTURES / "blocks.vtm")))
        )
        found = servermanager.Fetch(support.neural_operator(tree))
        self.assertIn(None, support.leaves(found))
        self.assert_same_answer(found, expected)

    def test_blocks_by_themselves_differ_from_blocks_together(self):
        tree = simple.OpenDataFile(str(support.FIXTURES / "blocks.vtm"))
        together = servermanager.Fetch(support.neural_operator(tree))
        alone = servermanager.Fetch(support.neural_operator(tree, PerBlock=1))
        expected = servermanager.Fetch(
            simple.OpenDataFile(str(self.run_command(support.FIXTURES / "blocks.vtm", "--per-block")))
        )
        self.assert_same_answer(alone, expected)
        difference = support.values(support.leaves(together)[0], "pressure_predicted")
        difference -= support.values(support.leaves(alone)[0], "pressure_predicted")
        self.assertGreater(numpy.abs(difference).max(), 1e-4)

    def test_query_mesh(self):
        source = simple.OpenDataFile(str(support.FIXTURES / "grid.vtu"))
        query = simple.OpenDataFile(str(support.FIXTURES / "coarse.vtu"))
        expected = servermanager.Fetch(
            simple.OpenDataFile(
                str(
                    self.run_command(
                        support.FIXTURES / "grid.vtu", "--query", str(support.FIXTURES / "coarse.vtu")
                    )
                )
            )
        )
        found = servermanager.Fetch(support.neural_operator(source, Query=query))
        self.assertEqual(found.GetNumberOfPoints(), 9)
        self.assert_same_answer(found, expected)

    def test_weights_of_an_array(self):
        source = simple.Calculator(
            Input=support.with_inputs(simple.Sphere()),
            ResultArrayName="w",
            Function="coordsX*coordsX+0.1",
        )
        mesh = self.folder / "weighted.vtp"
        simple.SaveData(str(mesh), proxy=source)
        written = self.run_command(mesh, "--weights", "array:w")
        found = support.neural_operator(source, Weights="array", WeightArray="w")
        self.assert_same_answer(
            servermanager.Fetch(found), servermanager.Fetch(simple.OpenDataFile(str(written)))
        )

    def test_every_step_of_a_series(self):
        steps = []
        for time, load in ((0.25, "1+coordsX"), (1.5, "coordsX*coordsY"), (4, "coordsY-3")):
            source = support.with_inputs(simple.Sphere(), load)
            mesh = self.folder / f"step_{time}.vtp"
            simple.SaveData(str(mesh), proxy=source)
            steps.append((time, mesh))
        collection = self.folder / "series.pvd"
        collection.write_text(
            '<?xml version="1.0"?><VTKFile type="Collection" version="0.1"><Collection>'
            + "".join(f'<DataSet timestep="{t}" part="0" file="{m.name}"/>' for t, m in steps)
            + "</Collection></VTKFile>"
        )
        result = support.neural_operator(simple.PVDReader(FileName=str(collection)))
        found = {}
        for time, mesh in reversed(steps):
            result.UpdatePipeline(time)
            found[time] = servermanager.Fetch(result)
            self.assertEqual(result.GetDataInformation().GetTime(), time)
            expected = servermanager.Fetch(simple.OpenDataFile(str(self.run_command(mesh))))
            self.assert_same_answer(found[time], expected)
        change = support.values(found[0.25], "pressure_predicted")
        change = change - support.values(found[4], "pressure_predicted")
        self.assertGreater(numpy.abs(change).max(), 1e-3)


if __name__ == "__main__":
    support.main()
