"""What goes wrong is an error message; ParaView and its exit status stay as they are."""

import os
import subprocess

import support

PROGRAM = os.environ["FUNCATTN_PARAVIEW_PROGRAM"]
PRELUDE = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import support
from paraview import simple
support.load_plugin()

def opened(name):
    return simple.OpenDataFile(str(support.FIXTURES / name))
"""
ONE_RUN = "support.neural_operator(opened('grid.vtu')).UpdatePipeline()\n"

# What is wrong, the input, and the message. Each is put right in the same filter afterwards.
CASES = [
    ({"OperatorFile": "absent.safetensors"}, "grid.vtu", "absent.safetensors"),
    ({"OperatorFile": "damaged.safetensors"}, "grid.vtu", "damaged.safetensors.*checksum"),
    ({"OperatorFile": "grid.vtu"}, "grid.vtu", "grid.vtu.*no safetensors file"),
    ({"OperatorFile": ""}, "grid.vtu", "no operator file is set"),
    ({}, "no_load.vtu", "there is no point array 'load'"),
    ({}, "nan.vtu", "array 'load' holds NaN or Inf at 1 of 30.*index 8"),
    ({"Weights": "array", "WeightArray": "w"}, "negative.vtu", "'w'.*-1"),
    ({"Weights": "array", "WeightArray": "absent"}, "grid.vtu", "there is no point array 'absent'"),
    ({"Outputs": ["presure"]}, "grid.vtu", "no output 'presure'; it predicts pressure, displacement"),
    ({"Parameters": ["angle", "1"]}, "grid.vtu", "no parameter 'angle'; it has none"),
    ({"Parameters": ["angle", "one"]}, "grid.vtu", "'angle' was given 'one', expected numbers"),
    ({"Device": "gpu"}, "grid.vtu", "unknown device 'gpu'"),
]
TRY_ALL = """
for wrong, mesh, _ in CASES:
    if wrong.get("OperatorFile"):
        wrong["OperatorFile"] = str(support.FIXTURES / wrong["OperatorFile"])
    result = support.neural_operator(opened(mesh), **wrong)
    print("CASE", flush=True)
    result.UpdatePipeline()
    print("predicted:", "pressure_predicted" in support.arrays_of(result), flush=True)
    result.Input = opened("grid.vtu")
    result.OperatorFile = support.SURROGATE
    result.Weights = "recorded"
    result.Outputs, result.Parameters, result.Device = [], [], "cpu"
    result.UpdatePipeline()
    print("then predicted:", "pressure_predicted" in support.arrays_of(result), flush=True)
"""


class Failures(support.ParaViewTest):
    def run_script(self, script):
        """A script in a process of its own: exit status and all that it printed."""
        file = self.folder / "script.py"
        file.write_text(PRELUDE + script)
        done = subprocess.run(
            [PROGRAM, str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def test_messages(self):
        status, output = self.run_script(f"CASES = {CASES!r}\n" + TRY_ALL)
        self.assertEqual(status, 0, output)
        reports = output.split("CASE\n")[1:]
        self.assertEqual(len(reports), len(CASES), output)
        for (wrong, mesh, message), report in zip(CASES, reports):
            with self.subTest(wrong=wrong, mesh=mesh):
                # A message may be broken into lines.
                failed, repaired = " ".join(report.split()).split("predicted: False", 1)
                self.assertRegex(failed, message)
                self.assertIn("then predicted: True", repaired)

    def test_exit_status_of_the_script_is_kept(self):
        for ending, expected in [("", 0), ("sys.exit(7)\n", 7)]:
            status, output = self.run_script(ONE_RUN + ending)
            self.assertEqual(status, expected, output)


if __name__ == "__main__":
    support.main()
