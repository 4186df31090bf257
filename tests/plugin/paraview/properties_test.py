"""What the plugin's proxy offers: its domains, its texts, what a state file keeps."""

import support
import vtkmodules.vtkCommonCore
from paraview import servermanager, simple


class Properties(support.ParaViewTest):
    def test_only_paraviews_vtk_is_in_the_process(self):
        support.neural_operator(simple.OpenDataFile(str(support.FIXTURES / "grid.vtu"))).UpdatePipeline()
        with open("/proc/self/maps") as maps:
            libraries = {line.split()[-1] for line in maps if "/libvtk" in line}
        self.assertTrue(any("vtkCommonCore-pv5.11" in library for library in libraries))
        # VTK-m, which is ParaView's alone here, has no version in the names of its libraries.
        ours = ("pv5.11", "libvtkFunctionalAttention", "libvtkm")
        strangers = {name for name in libraries if not any(part in name for part in ours)}
        self.assertEqual(strangers, set())

    def test_data_without_arrays_can_be_the_input(self):
        bare = simple.PassArrays(Input=simple.Sphere(), PointDataArrays=[], CellDataArrays=[])
        bare.UpdatePipeline()
        prototype = servermanager.ProxyManager().GetPrototypeProxy("filters", "NeuralOperator")
        accepted = prototype.GetProperty("Input")
        accepted.RemoveAllUncheckedProxies()
        accepted.AddUncheckedProxy(bare.SMProxy)
        self.assertEqual(accepted.IsInDomains(), 1)

    def test_a_table_cannot_be_the_input(self):
        table = simple.ProgrammableSource(OutputDataSetType="vtkTable", Script="pass")
        table.UpdatePipeline()
        prototype = servermanager.ProxyManager().GetPrototypeProxy("filters", "NeuralOperator")
        accepted = prototype.GetProperty("Input")
        accepted.RemoveAllUncheckedProxies()
        accepted.AddUncheckedProxy(table.SMProxy)
        self.assertEqual(accepted.IsInDomains(), 0)

    def test_weight_arrays_are_those_of_the_data(self):
        grid = simple.OpenDataFile(str(support.FIXTURES / "grid.vtu"))
        grid.UpdatePipeline()
        result = support.neural_operator(grid)
        self.assertIn("load", result.GetProperty("WeightArray").Available)
        self.assertEqual(
            result.GetProperty("Weights").Available,
            ["recorded", "auto", "measure", "uniform", "density", "array"],
        )

    def test_what_the_operator_needs_and_gives(self):
        result = support.neural_operator(simple.Sphere())
        result.UpdatePipelineInformation()
        self.assertEqual(
            str(result.OperatorInputs).splitlines(), ["load: point, 1 component", "force: point, 3 components"]
        )
        self.assertEqual(
            str(result.OperatorOutputs).splitlines(),
            ["pressure: point, 1 component, Pa", "displacement: point, 3 components, m"],
        )

    def parametric(self, **properties):
        """An operator whose force is a parameter, on a grid with its force in the field data."""
        flow = simple.OpenDataFile(str(support.FIXTURES / "flow.vtu"))
        return support.neural_operator(
            flow, OperatorFile=str(support.FIXTURES / "parametric.safetensors"), **properties)

    def test_parameters_are_a_table(self):
        result = self.parametric()
        result.UpdatePipelineInformation()
        self.assertEqual(str(result.OperatorParameters),
                         "force: 3 components, N, (0, -1, 2) to (1, 0, 2)")
        as_in_the_file = support.values(servermanager.Fetch(result), "pressure_predicted")
        result.Parameters = ["force", "0.5, -0.5, 2"]
        same = support.values(servermanager.Fetch(result), "pressure_predicted")
        self.assertEqual(abs(same - as_in_the_file).max(), 0)
        result.Parameters = ["force", "0.75, -0.5, 2", "", ""]
        changed = support.values(servermanager.Fetch(result), "pressure_predicted")
        self.assertGreater(abs(changed - as_in_the_file).max(), 1e-6)
        result.Parameters = []
        again = support.values(servermanager.Fetch(result), "pressure_predicted")
        self.assertEqual(abs(again - as_in_the_file).max(), 0)

    def test_outputs_are_chosen_from_what_the_operator_gives(self):
        result = support.neural_operator(simple.OpenDataFile(str(support.FIXTURES / "grid.vtu")))
        result.UpdatePipeline()
        self.assertEqual(list(result.Outputs), [])
        self.assertEqual(list(result.GetProperty("Outputs").Available), ["pressure", "displacement"])
        predicted = [name for name in support.arrays_of(result) if "_predicted" in name]
        self.assertEqual(predicted, ["displacement_predicted", "pressure_predicted"])
        result.Outputs = ["displacement"]
        result.UpdatePipeline()
        predicted = [name for name in support.arrays_of(result) if "_predicted" in name]
        self.assertEqual(predicted, ["displacement_predicted"])

    def test_several_outputs_can_be_chosen(self):
        result = support.neural_operator(simple.OpenDataFile(str(support.FIXTURES / "grid.vtu")))
        # In the window this domain is a list to tick; one of names is a box for a single choice.
        outputs = result.GetProperty("Outputs").SMProperty
        self.assertIsNotNone(outputs.FindDomain("vtkSMArraySelectionDomain"))
        result.Outputs = ["pressure", "displacement"]
        result.UpdatePipeline()
        predicted = [name for name in support.arrays_of(result) if "_predicted" in name]
        self.assertEqual(predicted, ["displacement_predicted", "pressure_predicted"])
        result.Outputs = []
        result.UpdatePipeline()
        predicted = [name for name in support.arrays_of(result) if "_predicted" in name]
        self.assertEqual(predicted, ["displacement_predicted", "pressure_predicted"])

    def test_the_device_that_computed_is_told(self):
        result = support.neural_operator(simple.OpenDataFile(str(support.FIXTURES / "grid.vtu")))
        result.UpdatePropertyInformation()
        self.assertEqual(str(result.UsedDevice), "")
        result.UpdatePipeline()
        result.UpdatePropertyInformation()
        self.assertEqual(str(result.UsedDevice), "cpu")

    def test_threads_are_as_many_as_the_stage_allows(self):
        result = support.neural_operator(simple.OpenDataFile(str(support.FIXTURES / "grid.vtu")))
        domain = result.GetProperty("Threads").SMProperty.FindDomain("vtkSMIntRangeDomain")
        most = domain.GetMaximum(0, vtkmodules.vtkCommonCore.mutable(0))
        header = (support.SOURCE / "plugin" / "stage.h").read_text()
        self.assertIn(f"constexpr int most_threads = {most};", header)

    def test_basis_and_transport_are_added(self):
        result = self.parametric(AddBasis=1, AddTransport=1, InspectedBlocks=[2], Device="cpu")
        found = servermanager.Fetch(result)
        basis = support.values(found, "basis_block2_head1")
        self.assertEqual(basis.shape, (30, 5))
        self.assertLess(abs(basis.sum(axis=1) - 1).max(), 1e-12)
        self.assertIsNone(found.GetPointData().GetArray("basis_block1_head1"))
        transport = found.GetFieldData().GetArray("transport_block2_head2")
        self.assertEqual((transport.GetNumberOfTuples(), transport.GetNumberOfComponents()), (5, 5))

    def test_every_property_is_documented(self):
        result = support.neural_operator(simple.Sphere())
        for name in result.ListProperties():
            with self.subTest(name):
                documentation = result.GetProperty(name).SMProperty.GetDocumentation()
                self.assertIsNotNone(documentation)
                self.assertGreater(len(documentation.GetDescription().strip()), 20)

    def test_state_gives_the_same_result(self):
        result = self.parametric(Suffix="_kept", Weights="uniform", NanPolicy=1,
                                 Parameters=["force", "0.75, -0.5, 2"], Outputs=["displacement"])
        simple.RenameSource("predicted", result)
        expected = servermanager.Fetch(result)
        state = str(self.folder / "state.pvsm")
        simple.SaveState(state)
        simple.ResetSession()
        simple.LoadState(state)
        opened = simple.FindSource("predicted")
        self.assertEqual(opened.OperatorFile, str(support.FIXTURES / "parametric.safetensors"))
        self.assertEqual(list(opened.Parameters), ["force", "0.75, -0.5, 2"])
        self.assertEqual(opened.Weights, "uniform")
        found = servermanager.Fetch(opened)
        self.assertIsNone(found.GetPointData().GetArray("pressure_kept"))
        name = "displacement_kept"
        difference = abs(support.values(found, name) - support.values(expected, name)).max()
        self.assertEqual(difference, 0)


if __name__ == "__main__":
    support.main()
