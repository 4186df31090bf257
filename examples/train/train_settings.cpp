#include "examples/train/train_settings.h"

#include "core/error.h"
#include "meshio/quadrature.h"
#include "plugin/cli/command.h"

namespace funcattn {

void TrainSettings::describe(OptionTable& table) {
  table.group("Data");
  table.value("data", data, "folder of VTK files (or train/ and valid/ in it), list file, or .pvd")
      .instead_of("task")
      .placeholder("FOLDER");
  table
      .value(
          "query-data", query_data,
          "meshes that hold the targets, each at the points of its own: the partners of those of "
          "--data, which hold the inputs, of the same names (in lists: in the same order)")
      .placeholder("FOLDER")
      .default_text("the meshes of --data")
      .only_with("data");
  table
      .flag("interpolate-inputs", query.interpolate_inputs,
            "take inputs that a mesh of --query-data lacks from its partner, linearly in its cells")
      .only_with("data");
  table.value("task", task, "train on a generated task instead")
      .choices({"sine"})
      .instead_of("data")
      .default_text("none")
      .placeholder("sine");
  table.list("inputs", arrays.inputs, "arrays that the operator is given")
      .placeholder("ARRAY")
      .only_with("data");
  table
      .list("parameters", arrays.parameters,
            "values of the whole mesh, in its field data, that it is given as well")
      .placeholder("NAME")
      .only_with("data");
  table.list("targets", arrays.targets, "arrays that it shall predict")
      .placeholder("ARRAY")
      .only_with("data");
  table
      .value("source-flag", arrays.source_flag,
             "array that is non-zero where a point is a source sample (few_shot)")
      .placeholder("ARRAY")
      .default_text("none")
      .only_with("data");
  table
      .value("ignore-class", ignored_class,
             "label that says that the class of a point is not known (cross_entropy)")
      .default_text("as dataset.json says, else none")
      .only_with("data");
  table.value("association", association, "where all these arrays sit")
      .choices({"point", "cell"})
      .default_text("as dataset.json says, else point")
      .only_with("data");
  table
      .value("weights", arrays.weights,
             "quadrature weights: auto, measure, uniform, density or array:NAME")
      .default_text("as dataset.json says, else auto")
      .only_with("data");
  table.value("query-weights", query.weights, "the same for the points of --query-data in the loss")
      .default_text("auto; uniform where --weights is")
      .only_with("data");
  table
      .value("validation-fraction", validation_fraction,
             "share of the samples kept for validation where there is no valid/")
      .at_least(0)
      .at_most(0.9)
      .default_text("0.1")
      .only_with("data");
  table
      .choice("symmetries", symmetries,
              {{"none", Symmetries::none},
               {"rectangle", Symmetries::rectangle},
               {"square", Symmetries::square}},
              "in every step, map the first two coordinates of each sample by one of the "
              "symmetries of this shape, drawn at random (arrays of one component)")
      .only_with("data");
  table
      .list("symmetry-center", symmetry_center,
            "the middle of that shape: X Y, where the points are not all of it")
      .placeholder("X Y")
      .default_text("that of the points' box")
      .only_with("data");
  table
      .flag("average-symmetries", averages_symmetries,
            "the operator predicts the mean over these symmetries and so has them exactly, at 4 or "
            "8 times the cost of a prediction; training itself is the same")
      .only_with("data");
  table
      .flag("rotations", rotations,
            "in every step, turn the three coordinates of each sample by a rotation drawn at "
            "random (arrays of one component)")
      .only_with("data");
  table
      .value("points", points,
             "train on so many points of each sample, drawn anew in every step, with the weights "
             "of those that they stand for; 0: on all")
      .at_least(0)
      .only_with("data");
  table
      .choice("point-choice", point_choice,
              {{"even", SamplingMethod::even}, {"random", SamplingMethod::random}},
              "how they are drawn: spread over the mesh, or every point equally likely")
      .default_text("even")
      .only_with("data");
  sine.describe_training(table);
  model.describe(table);
  optimisation.describe(table);
  table.group("Run");
  table
      .value("out,o", out,
             "operator file; its name also makes those of the log, the "
             "last operator and the training state")
      .required();
  table.flag("resume", resume, "continue an interrupted run with the same options");
  table.flag("overwrite", overwrite, "replace the files of an earlier run");
  table.value("dtype", dtype, "numbers of the model").choices({"float32", "float64"});
  table.value("seed", seed, "of initial weights, shuffling and generated functions");
  table.value("validate-every", validate_every, "steps; 0: twenty times a run").at_least(0);
  table.value("log-every", log_every, "steps").at_least(1);
  table.flag("json", json, "print the result as JSON");
  table.choice(
      "parallel", parallel, {{"samples", Parallel::samples}, {"domain", Parallel::domain}},
      "what the processes that mpiexec starts share out: the samples of every batch, or the "
      "points of every sample, each with its pieces of parallel files");
  declare_threads(table, threads);
}

void TrainSettings::validate() const {
  if (data.empty() == task.empty()) throw UsageError("give either --data FOLDER or --task sine");
  if (resume && overwrite)
    throw UsageError(
        "--resume continues the earlier run whose files --overwrite would replace; give one of "
        "them");
  if (!arrays.weights.empty()) (void)weight_choice_from_string(arrays.weights);
  validate_query();
  if (!symmetry_center.empty() && symmetries == Symmetries::none)
    throw UsageError(
        "--symmetry-center is given without --symmetries; say which, or leave it away");
  if (!symmetry_center.empty() && symmetry_center.size() != 2)
    throw UsageError("--symmetry-center has " + std::to_string(symmetry_center.size()) +
                     " numbers, expected 2: X Y");
  if (averages_symmetries && symmetries == Symmetries::none)
    throw UsageError(
        "--average-symmetries is given without --symmetries; say which, or leave it away");
  if (rotations && symmetries != Symmetries::none)
    throw UsageError(
        "--rotations and --symmetries are both given; give one of them, a turned shape has other "
        "symmetries");
  if (point_choice && points == 0)
    throw UsageError("--point-choice is given without --points; say how many, or leave it away");
  if (parallel == Parallel::domain && points > 0)
    throw UsageError(
        "--points are drawn where one process holds all of a sample, which --parallel domain "
        "does not; give one of them");
  if (task.empty()) return;
  sine.validate();
  if (parallel == Parallel::domain)
    throw UsageError("--parallel domain is for pieces of the files of --data; --task " + task +
                     " has none");
  if (optimisation.loss == "cross_entropy")
    throw UsageError("the loss cross_entropy is for classes in --data; --task " + task +
                     " has none");
}

void TrainSettings::validate_query() const {
  if (!query.weights.empty()) (void)weight_choice_from_string(query.weights);
  if (query_data.empty()) {
    const char* given = query.interpolate_inputs ? "--interpolate-inputs"
                        : !query.weights.empty() ? "--query-weights"
                                                 : nullptr;
    if (given)
      throw UsageError(std::string(given) +
                       " is for meshes of --query-data; give them, or leave it away");
    return;
  }
  if (points > 0)
    throw UsageError(
        "--points takes subsets of single meshes, not of the pairs of --query-data; leave one of "
        "them away");
  if (parallel == Parallel::domain)
    throw UsageError(
        "--parallel domain shares the pieces of single meshes, not of the pairs of --query-data; "
        "leave one of them away");
}

}  // namespace funcattn
