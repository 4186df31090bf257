"""Every order of imports works, or ends in one clear ImportError; exit statuses are kept."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import SINE

RUN = f"""
import numpy as np, funcattn
x = np.linspace(-6, 6, 61)
known = np.arange(61) % 10 == 0
y = funcattn.run(x, {str(SINE)!r}, threads=1,
                 fields=dict(y_context=np.where(known, np.sin(x), 0), context=known),
                 weights="uniform")["y"]
print(repr(float(y[30])))
"""


def python(code, *path):
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), environment["PYTHONPATH"]])
    return subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
                          capture_output=True, text=True, env=environment, check=False)


def installed(name):
    return python(f"import {name}").returncode == 0


class Order(unittest.TestCase):
    def test_any_order_gives_the_same(self):
        modules = ["funcattn", "numpy", "vtkmodules.vtkCommonDataModel"]
        if installed("torch"):
            modules.append("torch")
        else:
            print("torch is not installed: its orders are left out", file=sys.stderr)
        outputs = set()
        # The one under test first, last and between, with each other one before the rest.
        orders = [(*others[:place], "funcattn", *others[place:])
                  for others in ([name for name in rotated if name != "funcattn"]
                                 for rotated in (modules, modules[::-1]))
                  for place in (0, 1, len(others))]
        for order in orders:
            # Each library is used, not only loaded.
            use = "import torch; assert torch.ones(3, 3).mm(torch.ones(3, 3)).sum() == 27\n" \
                if "torch" in order else ""
            code = "".join(f"import {name}\n" for name in order) + use + RUN + use
            result = python(code)
            self.assertEqual((result.returncode, result.stderr), (0, ""), order)
            outputs.add(result.stdout)
        self.assertEqual(len(outputs), 1)

    def test_the_whole_of_vtk_before_and_after(self):
        for order in ("import vtk, funcattn", "import funcattn, vtk"):
            result = python(order + "\n" + RUN)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_exit_statuses_are_kept(self):
        self.assertEqual(python(RUN + "raise SystemExit(3)").returncode, 3)
        self.assertEqual(python(RUN + "operator = funcattn.Operator(" + repr(str(SINE)) + ")\n"
                                "import os; os._exit(4)").returncode, 4)
        failed = python("import funcattn\nfuncattn.run([0.0], 'nowhere')")
        self.assertEqual(failed.returncode, 1)
        self.assertTrue(failed.stderr.strip().splitlines()[-1].startswith(
            "funcattn._errors.FileError: cannot read 'nowhere'"), failed.stderr)


class OtherLibraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)],
                       input="int nothing;", text=True, check=True)

    def assert_one_import_error(self, result, *texts):
        self.assertEqual(result.returncode, 1)
        last = result.stderr.strip().splitlines()[-1]
        self.assertTrue(last.startswith("ImportError: "), result.stderr)
        for text in texts:
            self.assertIn(text, last)

    def test_another_libtorch_is_loaded(self):
        library = self.folder / "lib" / "libtorch_cpu.so"
        self.build(library)
        result = python(f"import ctypes\nctypes.CDLL({str(library)!r})\nimport funcattn")
        self.assert_one_import_error(result, str(library), "another LibTorch is loaded already",
                                     "python3-torch")

    def test_another_torch_is_imported_later(self):
        self.build(self.folder / "torch" / "lib" / "libtorch_cpu.so")
        (self.folder / "torch" / "__init__.py").write_text("")
        result = python("import funcattn\nimport torch", self.folder)
        self.assert_one_import_error(result, str(self.folder), "brings another LibTorch")
        caught = python("import funcattn\ntry:\n    import torch\nexcept ImportError:\n    pass\n"
                        + RUN, self.folder)
        self.assertEqual(caught.returncode, 0, caught.stderr)

    def test_another_vtk(self):
        package = self.folder / "vtkmodules"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "vtkCommonCore.py").write_text(
            "class vtkVersion:\n    @staticmethod\n    def GetVTKVersion():\n"
            "        return '9.3.1'\n")
        result = python("import funcattn", self.folder)
        self.assert_one_import_error(result, "this process has VTK 9.3.1", str(package))

    def test_the_same_version_from_another_place(self):
        library = self.folder / "libvtkCommonCore-9.1.so"
        self.build(library)
        result = python(f"import ctypes\nctypes.CDLL({str(library)!r})\nimport funcattn")
        self.assert_one_import_error(result, str(library))

    def test_no_vtk_at_all(self):
        package = self.folder / "vtkmodules"
        package.mkdir()
        (package / "__init__.py").write_text("raise ImportError('no VTK here')")
        self.assert_one_import_error(python("import funcattn", self.folder), "no VTK here",
                                     "python3-vtk9")


if __name__ == "__main__":
    unittest.main()
