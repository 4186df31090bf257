"""What is trained and measured for each table of docs/results.md."""
import dataclasses
import pathlib

import fields
import states
import surfaces


@dataclasses.dataclass
class Case:
    """A row of a table: an operator trained on a data set with options of `funcattn train`."""
    label: str
    options: list
    # Its last test set, where more points would take hours; empty: all.
    farthest: object = ""
    data: str = ""  # To train on, in place of those of the study.
    sources: str = ""  # To train on and to be tested on, in place of those of the study.
    evaluation: list = dataclasses.field(default_factory=list)  # Options of `evaluate`.
    value: float = None  # Where a picture of the study over such values has it,
    series: str = ""  # and the curve that it is on.


@dataclasses.dataclass
class Study:
    """A table: cases in the rows, test sets in the columns, every figure a mean over the seeds.

    Its picture has the figures over the values of the cases, where they have some, or else over
    `along`, and else side by side for each test set.
    """
    name: str
    title: str
    data: str  # Name of a data set; empty with a task.
    cases: list
    sets: list = dataclasses.field(default_factory=lambda: ["test"])  # Folders of the data set.
    # Other data sets whose test/ is a column: {column: name}.
    shifts: dict = dataclasses.field(default_factory=dict)
    task: str = ""  # Samples that are drawn in memory, in place of data.
    inside: str = ""  # Folder of the data set to train on; empty: all, which has train/.
    # Data set of the meshes with the targets, where a sample has two; its sets for those of `sets`.
    queries: str = ""
    query_sets: list = dataclasses.field(default_factory=list)
    # Rows of no operator: {label: figure of the folder of a test set}.
    references: dict = dataclasses.field(default_factory=dict)
    seeds: int = 2
    epochs: int = 20
    steps: int = 0  # In place of epochs.
    evaluation: list = dataclasses.field(default_factory=list)  # Options of `evaluate`.
    figure: str = "relative_l2"
    gradients: list = dataclasses.field(default_factory=list)  # Sets with a column of the H1 error.
    axis: str = "points"  # What the horizontal axis of the picture is.
    # Test sets on the horizontal axis, with their places; a place of None is the mean of their points.
    along: dict = dataclasses.field(default_factory=dict)

    def datasets(self):
        of_cases = [name for case in self.cases for name in (case.data, case.sources)]
        return [name for name in dict.fromkeys([self.data, self.queries, *of_cases,
                                                *self.shifts.values()]) if name]


@dataclasses.dataclass
class CostStudy:
    """Time and memory of training steps and of inference, by the number of points."""
    name: str
    title: str
    cases: list  # `farthest` is a number of points.
    sizes: dict  # {points: name of a data set}
    steps: int = 6

    def datasets(self):
        return list(self.sizes.values())


# Small enough for many of them, and alike in everything that a table does not compare.
NETWORK = ["--form", "shared_basis", "--width", "64", "--heads", "8", "--basis", "32", "--blocks",
           "4", "--mlp-ratio", "1"]
QUICK_NETWORK = ["--form", "shared_basis", "--width", "16", "--heads", "4", "--basis", "8",
                 "--blocks", "2", "--mlp-ratio", "1"]
OPTIMISER = ["--batch", "4", "--lr", "2e-3", "--schedule", "one_cycle", "--rise", "0.1", "--clip",
             "1", "--beta2", "0.99", "--ema", "0.999", "--loss", "relative_l2"]



def attention(softmax_up_to, bias=False):
    """The forms of attention side by side.

    @param softmax_up_to the last test set for those whose cost grows with the square of the points
    """
    cases = [
        Case("functional", []),
        Case("functional, separate slices", ["--bases", "separate_slices"]),
        Case("functional, separate bases", ["--bases", "separate"]),
        Case("functional, fixed cosines", ["--attention", "fourier"]),
        Case("slice attention", ["--mixing", "softmax"]),
        Case("no k x k mixing", ["--mixing", "none"]),
        Case("softmax", ["--attention", "softmax"], softmax_up_to),
        Case("linear (Galerkin)", ["--attention", "linear"]),
        Case("ridge", ["--attention", "ridge"]),
        Case("pointwise", ["--attention", "pointwise"]),
    ]
    if bias:
        cases.insert(7, Case("softmax, distance bias",
                             ["--attention", "softmax", "--position-bias", "distance"],
                             softmax_up_to))
    return cases


def sine_cases():
    """The same task for all; few_shot is the form that is made for it."""
    grid = ["--protocol", "masked-grid", "--context", "4", "40"]
    network = ["--form", "shared_basis", "--width", "32", "--heads", "4", "--basis", "16",
               "--blocks", "2", "--mlp-ratio", "1"]
    kept = [case for case in attention("") if case.label not in ("functional, separate slices",)]
    return [Case("few_shot", [*grid, "--form", "few_shot"]),
            *[Case(case.label, [*grid, *network, *case.options]) for case in kept]]


def rna_cases(quick):
    """A class at every point, learned from some points of each surface."""
    def points(count):
        return ["--points", str(count // 32 if quick else count)]
    segmentation = ["--form", "segmentation"]
    cases = [Case("segmentation form, 1,024 points", [*segmentation, *points(1024)]),
             Case("512 points", [*segmentation, *points(512)]),
             Case("2,048 points", [*segmentation, *points(2048)]),
             Case("20 surfaces", [*segmentation, *points(1024)], data="rna, 20 surfaces"),
             Case("10 surfaces", [*segmentation, *points(1024)], data="rna, 10 surfaces"),
             Case("with --rotations", [*segmentation, *points(1024), "--rotations"]),
             Case("slice attention", [*segmentation, *points(1024), "--mixing", "softmax"]),
             Case("no k x k mixing", [*segmentation, *points(1024), "--mixing", "none"])]
    for case in attention(""):
        if case.label in ("softmax", "linear (Galerkin)", "ridge", "pointwise"):
            few = case.label == "softmax"
            cases.append(Case(case.label + (", 512 points" if few else ""),
                              [*case.options, *points(512 if few else 1024)]))
    return cases


def cost_cases(quick):
    """All points of softmax see each other; it ends where its step takes seconds."""
    cases = [*attention(4096),
             Case("shared_basis_tied", ["--form", "shared_basis_tied"]),
             Case("paper", ["--form", "paper"]),
             Case("sum_coefficients, 2 heads", ["--form", "sum_coefficients", "--heads", "2"])]
    return cases if not quick else cases[:1] + cases[6:7]


DARCY_INPUTS = ["--inputs", "permeability_high", "--targets", "pressure"]
SQUARE = ["--symmetries", "square", "--symmetry-center", "0.5", "0.5"]
# 258,686 parameters. Two samples a step and a high rate: many steps, whose noise the averaged weights
# take out.
DARCY_NETWORK = ["--form", "shared_basis", "--width", "96", "--heads", "8", "--basis", "32",
                 "--blocks", "5", "--mlp-ratio", "1", "--batch", "2", "--lr", "3e-3",
                 "--validation-fraction", "0"]
# In long runs, which fit the training samples too well, the rate ends at a tenth of its peak, and the
# average reaches over about the last sixth of the steps.
LONG = ["--bases", "separate", "--final-lr", "0.1", "--ema", "0.9999"]


PARTS_TRAINING = ["--inputs", "normal", "--targets", "label", "--loss", "cross_entropy"]
RNA_TRAINING = ["--targets", "label", "--loss", "cross_entropy", "--weights", "uniform",
                "--point-choice", "random", "--batch", "2", "--lr", "3e-3",
                "--validation-fraction", "0"]


def merged(defaults, options):
    """Options of a case take the place of defaults of the same name."""
    given = {option for option in options if option.startswith("--")}
    kept, skipping = [], False
    for part in defaults:
        if part.startswith("--"):
            skipping = part in given
        if not skipping:
            kept.append(part)
    return [*kept, *options]


def cost_sizes(quick):
    return [64, 256] if quick else [256, 1024, 4096, 16384]


def cost_data(points):
    return f"cost, {points} points"


# What --published and --rna name, with what it becomes.
PUBLISHED, RNA = "darcy, published", "rna"


def datasets(quick):
    """Arguments of `funcattn generate` by name."""
    size = (["--train", "16", "--valid", "4", "--test", "4"] if quick else
            ["--train", "200", "--valid", "20", "--test", "20"])
    burgers = ["burgers", *size, "--resolutions", "1", "2", "4", "8", "16", "32", "--scattered",
               "500", "--points", "32" if quick else "256"]
    darcy = ["darcy", *size, "--resolutions", "1", "4", "16", "--points", "150" if quick else "500"]
    notch = [*darcy, "--domain", "notch", "--permeability", "two-phase", "--graded-resolutions",
             "1", "4"]
    pairs = ["darcy", *(size if quick else ["--train", "100", "--valid", "10", "--test", "20"]),
             "--domain", "notch", "--permeability", "two-phase", "--reference-points",
             "4000" if quick else "16000", "--resolutions", "1", "4", "--points",
             "75" if quick else "150"]
    made = {
        "burgers": burgers,
        "burgers, nu = 0.01": [*burgers, "--viscosity", "0.01"],
        "burgers, zero mean": [*burgers, "--zero-mean"],
        "burgers, nu = 0.01, zero mean": [*burgers, "--viscosity", "0.01", "--zero-mean"],
        "darcy, lognormal": [*darcy, "--permeability", "lognormal"],
        "darcy, notch": notch,
        "transfer, sources": pairs,
        "transfer, queries": merged(pairs, ["--mesh", "graded", "--points",
                                            "150" if quick else "300"]),
        "parts": ["parts", *(size if quick else ["--train", "40", "--valid", "4", "--test", "10"]),
                  "--resolutions", "1", "4", "16", "--points", "200" if quick else "400"],
    }
    # Other problems at the resolution of training, to test on alone.
    few = ["--train", "0", "--valid", "0", "--resolutions", "1"]
    fronts = merged(made["burgers, nu = 0.01"], [*few, "--scattered", "0"])
    notched = merged([*darcy, "--domain", "notch", "--permeability", "two-phase"], few)
    made.update({
        "burgers, amplitude 2": [*fronts, "--initial-amplitude", "2"],
        "burgers, length / 2": [*fronts, "--initial-length", "0.1"],
        "burgers, length x 2": [*fronts, "--initial-length", "0.4"],
        "darcy, notch elsewhere": [*notched, "--notch-range", "0.2", "0.35"],
        "darcy, length / 2": [*notched, "--correlation-length", "0.1667"],
        "darcy, phases 24 and 3": [*notched, "--phases", "24", "3"],
    })
    for points in cost_sizes(quick):
        made[cost_data(points)] = ["burgers", "--train", "2", "--valid", "1", "--test", "2",
                                   "--points", str(points)]
    return made


def given(published, rna, workshop):
    """Folders, or futures of them, of data that are not generated, by name.

    @param published folder with train16/, test16/ and test32/ of the published Darcy data, or ""
    @param rna folder with train/ and test/ of the RNA surfaces, or ""
    """
    folders = {PUBLISHED: pathlib.Path(published)} if published else {}
    if rna:
        for name, every in [(RNA, 1), ("rna, 20 surfaces", 2), ("rna, 10 surfaces", 4)]:
            folders[name] = workshop.derived(surfaces.centered, rna, every)
    return folders


def studies(quick):
    """All tables, in the order of docs/results.md."""
    burgers_sets = ["test", "test_x2", "test_x4", "test_x8", "test_x16", "test_x32",
                    "test_scattered"]
    darcy_sets = ["test", "test_x4", "test_x16"]
    # In the order of their points, which `Case.farthest` goes by.
    notch_sets = ["test", "test_graded", "test_x4", "test_graded_x4", "test_x16"]
    grids = ["test16", "test32"]
    seeds = dict(seeds=1 if quick else 2)
    few = dict(**seeds, epochs=2 if quick else 10)
    constant = dict(references={"the mean of u0 (a constant)": states.initial_mean})
    burgers = dict(along=dict.fromkeys(burgers_sets[:-1]), gradients=["test"], **constant, **few)
    notch = dict(along=dict.fromkeys(darcy_sets), **few)
    published = dict(inside="train16", along=dict.fromkeys(grids), gradients=["test16"],
                     references={"mean field of the training set": fields.training_mean}, **seeds)
    parts_sets = ["test", "test_x4", "test_x16"]
    basis_counts = [4, 8] if quick else [8, 16, 32, 64, 128, 256]
    ridges = ["1e-3"] if quick else ["1e-6", "1e-4", "1e-3", "1e-2", "1", "10", "100"]
    blends = ["0.1"] if quick else ["0.001", "0.1", "0.5", "0.9"]
    square = [*SQUARE, "--average-symmetries"]
    twenty = [*DARCY_INPUTS, *DARCY_NETWORK, *square]
    long = [*DARCY_INPUTS, *DARCY_NETWORK, *LONG, *square]
    once = ["--single-prediction"]
    contexts = [4, 5, 10, 20, 40]
    return [
        Study("burgers", "Burgers, nu = 0.1, trained at 256 points", "burgers",
              attention("test_x8"), burgers_sets, **burgers),
        Study("burgers-fronts", "Burgers, nu = 0.01, trained at 256 points", "burgers, nu = 0.01",
              attention("test_x8", bias=True), burgers_sets, **burgers),
        Study("burgers-zero-mean", "Burgers, nu = 0.1, states of zero mean, trained at 256 points",
              "burgers, zero mean", attention("test_x8"), burgers_sets, **burgers),
        Study("burgers-fronts-zero-mean",
              "Burgers, nu = 0.01, states of zero mean, trained at 256 points",
              "burgers, nu = 0.01, zero mean", attention("test_x8"), burgers_sets, **burgers),
        Study("darcy-grids", "Darcy on the published 16 x 16 grids", PUBLISHED,
              [Case(case.label, [*DARCY_INPUTS, *case.options]) for case in attention("test32")],
              grids, epochs=2 if quick else 4, **published),
        Study("darcy-notch", "Darcy on triangles, two-phase, notch, trained at 500 points",
              "darcy, notch", attention("test_graded_x4"), notch_sets,
              gradients=["test", "test_x16"], **notch),
        Study("quadrature", "With and without quadrature weights", "darcy, notch",
              [Case("measure weights", []), Case("uniform weights", ["--weights", "uniform"])],
              notch_sets, evaluation=["--error-weights", "measure"], **few),
        Study("basis-count", "Number of basis functions", "darcy, notch",
              [Case(f"k = {k}", ["--basis", str(k)], value=k) for k in basis_counts], darcy_sets,
              axis="k", **few),
        Study("basis-kind", "Learned and given bases, k = 32", "darcy, notch",
              [Case("learned", []),
               Case("learned, orthogonality penalty 0.1", ["--orthogonality", "0.1"]),
               Case("fixed cosines", ["--attention", "fourier"])], darcy_sets, **notch),
        Study("regularisation", "Regularisation of the solve", "darcy, notch",
              [Case("learned blend", []),
               *[Case(f"blend of {blend}", ["--blend", blend], value=float(blend), series="blend")
                 for blend in blends],
               *[Case(f"paper, lambda = {ridge}", ["--form", "paper", "--ridge", ridge],
                      value=float(ridge), series="paper, lambda") for ridge in ridges]],
              darcy_sets, axis="lambda, or the blend", **few),
        Study("coefficients", "How coefficients are formed", "darcy, notch",
              [Case("paper, mean", ["--form", "paper", "--coefficients", "mean"]),
               Case("paper, integral", ["--form", "paper", "--coefficients", "integral"]),
               # Each of its heads has the whole width; with eight of them it would have 1.6 million
               # parameters.
               Case("sum_coefficients, 2 heads", ["--form", "sum_coefficients", "--heads", "2"]),
               Case("shared_basis", []),
               Case("shared_basis_tied", ["--form", "shared_basis_tied"])],
              notch_sets, **notch),
        Study("burgers-shifts", "Burgers, nu = 0.01, other initial states than in training",
              "burgers, nu = 0.01", attention("test"), ["test"],
              shifts={"amplitude x 2": "burgers, amplitude 2", "length / 2": "burgers, length / 2",
                      "length x 2": "burgers, length x 2"}, **constant, **few),
        Study("darcy-shifts", "Darcy, notch: other problems than in training", "darcy, notch",
              attention("test"), ["test"],
              shifts={"notch at 0.2 ... 0.35": "darcy, notch elsewhere",
                      "length / 2": "darcy, length / 2",
                      "phases 24 and 3": "darcy, phases 24 and 3"}, **few),
        Study("sine", "Sine on the masked grid, trained with K = 4 ... 40, mean squared error", "",
              sine_cases(), [*[f"K = {k}" for k in contexts], "1x", "32x", "alpha in [5, 10]",
                             "x in [-3, 15]"],
              task="sine", figure="mse", steps=20 if quick else 1000, axis="K",
              along={f"K = {k}": k for k in contexts}, **seeds),
        Study("parts", "Generated surfaces of known parts, trained at 400 points",
              "parts", [Case(case.label, [*PARTS_TRAINING, *case.options], case.farthest)
                        for case in attention("test_x4")], parts_sets,
              along=dict.fromkeys(parts_sets), figure="accuracy", steps=20 if quick else 500,
              **seeds),
        Study("transfer", "From a uniform mesh of the notch to a graded one", "transfer, sources",
              [Case("paper", ["--form", "paper"]),
               *[case for case in attention("") if case.label != "functional, separate slices"],
               Case("functional, on one mesh", [], sources="transfer, queries")],
              ["test", "test", "test_x4"], queries="transfer, queries",
              query_sets=["test", "test_x4", "test_x4"], **few),
        CostStudy("cost", "Cost by the number of points", cost_cases(quick),
                  {points: cost_data(points) for points in cost_sizes(quick)},
                  steps=2 if quick else 6),
        Study("rna", "RNA surfaces", RNA,
              [Case(case.label, merged(RNA_TRAINING, case.options), data=case.data)
               for case in rna_cases(quick)], ["test"],
              references={"label of the nearest training point": surfaces.nearest_label},
              figure="accuracy", steps=20 if quick else 1000, **seeds),
        Study("darcy-twenty", "Darcy on the published grids, 20 epochs", PUBLISHED,
              [Case("square's symmetries", twenty, evaluation=once),
               Case("these operators, mean over the symmetries", twenty)], grids,
              epochs=2 if quick else 20, **published),
        Study("darcy-long", "Darcy on the published grids, 120 epochs", PUBLISHED,
              [Case("separate bases, square's symmetries", long, evaluation=once),
               Case("these operators, mean over the symmetries", long)], grids,
              epochs=2 if quick else 120, **published),
    ]

