"""What is trained and measured for each table of docs/results.md."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Case:
    """A row of a table: an operator trained on a data set with options of `funcattn train`."""
    label: str
    options: list


@dataclasses.dataclass
class Study:
    """A table: cases in the rows, test sets in the columns, every figure a mean over the seeds."""
    name: str
    title: str
    data: str  # Name of a data set.
    cases: list
    sets: list = dataclasses.field(default_factory=lambda: ["test"])  # Folders of the data set.
    seeds: int = 2
    epochs: int = 20
    picture: str = ""  # What the horizontal axis is; empty: no picture.


# Small enough for many of them, and alike in everything that a table does not compare.
NETWORK = ["--form", "shared_basis", "--width", "64", "--heads", "8", "--basis", "32", "--blocks",
           "4", "--mlp-ratio", "1"]
QUICK_NETWORK = ["--form", "shared_basis", "--width", "16", "--heads", "4", "--basis", "8",
                 "--blocks", "2", "--mlp-ratio", "1"]
OPTIMISER = ["--batch", "4", "--lr", "2e-3", "--schedule", "one_cycle", "--rise", "0.1", "--clip",
             "1", "--beta2", "0.99", "--ema", "0.999", "--loss", "relative_l2"]

ATTENTION = [
    Case("functional", []),
    Case("functional, separate slices", ["--bases", "separate_slices"]),
    Case("functional, separate bases", ["--bases", "separate"]),
    Case("slice attention", ["--mixing", "softmax"]),
    Case("no k x k mixing", ["--mixing", "none"]),
    Case("softmax", ["--attention", "softmax"]),
    Case("softmax, distance bias", ["--attention", "softmax", "--position-bias", "distance"]),
    Case("linear (Galerkin)", ["--attention", "linear"]),
    Case("ridge", ["--attention", "ridge"]),
    Case("pointwise", ["--attention", "pointwise"]),
]

DARCY_INPUTS = ["--inputs", "permeability_high", "--targets", "pressure"]
SQUARE = ["--symmetries", "square", "--symmetry-center", "0.5", "0.5"]
# 258,686 parameters. Two samples a step and a high rate: many steps, whose noise the averaged weights
# take out.
DARCY_NETWORK = ["--batch", "2", "--lr", "3e-3", "--validation-fraction", "0", "--form", "shared_basis", "--width", "96", "--heads", "8", "--basis", "32",
                 "--blocks", "5", "--mlp-ratio", "1"]


def datasets(quick, published):
    """Arguments of `funcattn generate` by name; paths of data that are not generated.

    @param published folder with train16/, test16/ and test32/ of the published Darcy data, or None
    """
    size = (["--train", "16", "--valid", "4", "--test", "4"] if quick else
            ["--train", "300", "--valid", "20", "--test", "50"])
    burgers = ["burgers", *size, "--resolutions", "1", "2", "4", "8", "16", "32", "--scattered",
               "500", "--points", "32" if quick else "256"]
    darcy = ["darcy", *size, "--resolutions", "1", "4", "16", "--points", "150" if quick else "700"]
    notch = [*darcy, "--domain", "notch", "--permeability", "two-phase", "--graded-resolutions",
             "1", "4"]
    made = {
        "burgers": burgers,
        "burgers, nu = 0.01": [*burgers, "--viscosity", "0.01"],
        "darcy, lognormal": [*darcy, "--permeability", "lognormal"],
        "darcy, notch": notch,
    }
    given = {"darcy, published": pathlib.Path(published)} if published else {}
    return made, given


def studies(quick):
    """All tables, in the order of docs/results.md."""
    burgers_sets = ["test", "test_x2", "test_x4", "test_x8", "test_x16", "test_x32",
                    "test_scattered"]
    darcy_sets = ["test", "test_x4", "test_x16"]
    notch_sets = [*darcy_sets, "test_graded", "test_graded_x4"]
    grids = ["test16", "test32"]
    epochs = 2 if quick else 20
    few = dict(seeds=1 if quick else 2, epochs=epochs)
    once = dict(seeds=1, epochs=epochs)
    basis_counts = [4, 8] if quick else [8, 16, 32, 64, 128, 256]
    ridges = ["1e-3"] if quick else ["1e-6", "1e-4", "1e-2", "1"]
    return [
        Study("burgers", "Burgers, nu = 0.1, trained at 256 points", "burgers", ATTENTION,
              burgers_sets, picture="points", **few),
        Study("burgers-fronts", "Burgers, nu = 0.01, trained at 256 points", "burgers, nu = 0.01",
              ATTENTION, burgers_sets, picture="points", **few),
        Study("darcy-grids", "Darcy on the published 16 x 16 grids", "darcy, published",
              [Case(case.label, [*DARCY_INPUTS, *case.options]) for case in ATTENTION], grids,
              picture="points", **few),
        Study("darcy-notch", "Darcy on triangles, two-phase, notch, trained at 700 points",
              "darcy, notch", ATTENTION, notch_sets, picture="points", **few),
        Study("quadrature", "With and without quadrature weights", "darcy, notch",
              [Case("measure weights", []), Case("uniform weights", ["--weights", "uniform"])],
              notch_sets, **few),
        Study("basis-count", "Number of basis functions", "darcy, notch",
              [Case(f"k = {k}", ["--basis", str(k)]) for k in basis_counts], darcy_sets, **once),
        Study("regularisation", "Regularisation of the solve", "darcy, notch",
              [Case("learned blend", []),
               *[Case(f"paper, lambda = {ridge}", ["--form", "paper", "--ridge", ridge])
                 for ridge in ridges]], darcy_sets, **once),
        Study("coefficients", "How coefficients are formed", "darcy, notch",
              [Case("paper, mean", ["--form", "paper", "--coefficients", "mean"]),
               Case("paper, integral", ["--form", "paper", "--coefficients", "integral"]),
               Case("sum_coefficients", ["--form", "sum_coefficients"]),
               Case("shared_basis", []),
               Case("shared_basis_tied", ["--form", "shared_basis_tied"])],
              notch_sets, **few),
        Study("darcy-twenty", "Darcy on the published grids, 20 epochs", "darcy, published",
              [Case("square's symmetries", [*DARCY_INPUTS, *DARCY_NETWORK, *SQUARE]),
               Case("no symmetries", [*DARCY_INPUTS, *DARCY_NETWORK])], grids, **few),
        Study("darcy-long", "Darcy on the published grids, long", "darcy, published",
              [Case("square's symmetries", [*DARCY_INPUTS, *DARCY_NETWORK, *SQUARE])], grids,
              seeds=1, epochs=2 if quick else 60),
    ]
