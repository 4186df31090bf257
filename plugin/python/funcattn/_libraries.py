"""Checks, before anything of it is loaded, that the package shares LibTorch and VTK with the rest of
the process. Two copies of either overwrite each other's state: wrong numbers or a crash, much later.
"""

import importlib.abc
import importlib.machinery
import os
import sys

from . import _build


def loaded_libraries(maps="/proc/self/maps"):
    """Paths of the shared libraries in this process."""
    paths = []
    try:
        with open(maps, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                fields = line.rstrip("\n").split(maxsplit=5)
                if len(fields) == 6 and ".so" in fields[5] and fields[5] not in paths:
                    paths.append(fields[5])
    except OSError:  # Not Linux: nothing can be said.
        pass
    return paths


def _same_file(path, other):
    try:
        return os.path.samefile(path, other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _is(path, stem):
    name = os.path.basename(path)
    return name.startswith(stem + ".so") or name.startswith(stem + "-")


def check_libtorch():
    """Raises ImportError where another LibTorch is in the process."""
    for path in loaded_libraries():
        if _is(path, "libtorch_cpu") and not _same_file(path, _build.LIBTORCH):
            raise ImportError(
                f"another LibTorch is loaded already, {path}, and funcattn was built with "
                f"{_build.LIBTORCH}; two of them cannot share a process. Use the torch that belongs to "
                "the latter (on Debian the package python3-torch), or run funcattn in a process of "
                "its own")


def check_vtk():
    """Raises ImportError where Python finds another VTK than the one funcattn was built with."""
    built = f"VTK {_build.VTK_VERSION} ({_build.VTK_COMMON_CORE})"
    try:
        from vtkmodules.vtkCommonCore import vtkVersion
    except ImportError as error:
        raise ImportError(
            f"VTK's Python modules cannot be imported: {error}. funcattn was built with {built}; on "
            "Debian they are in the package python3-vtk9, for /usr/bin/python3") from error
    found = vtkVersion.GetVTKVersion()
    others = [path for path in loaded_libraries() if _is(path, "libvtkCommonCore")
              and not _same_file(path, _build.VTK_COMMON_CORE)]
    if found != _build.VTK_VERSION or others:
        where = others[0] if others else sys.modules["vtkmodules"].__file__
        raise ImportError(
            f"this process has VTK {found} ({where}), but funcattn was built with {built}; their "
            "objects cannot be exchanged. Use the VTK that funcattn was built with (without one "
            "installed by pip before it in sys.path), or build funcattn with the other")


class _OtherTorch(importlib.abc.MetaPathFinder):
    """Refuses `import torch` where it would bring another LibTorch."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "torch":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            library = os.path.join(folder, "lib", "libtorch_cpu.so")
            if os.path.exists(library) and not _same_file(library, _build.LIBTORCH):
                raise ImportError(
                    f"this torch brings another LibTorch, {library}, than the one that funcattn has "
                    f"loaded, {_build.LIBTORCH}; two of them cannot share a process. Use the torch that "
                    "belongs to the latter (on Debian the package python3-torch), or import torch in "
                    "a process of its own", name="torch")
        return None


def watch_torch():
    """Has later imports of another torch refused."""
    if "torch" not in sys.modules and not any(
            isinstance(finder, _OtherTorch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OtherTorch())
