#include "examples/sine/sine_task.h"

#include <algorithm>

#include "core/error.h"
#include "examples/sine/samples.h"

namespace funcattn {

namespace {

// Seeds of the training, validation and model streams differ, so that no function is in two sets.
constexpr std::uint64_t validation_stream = 0x76616c6964617465;
constexpr int validation_functions = 128;
constexpr int default_queries = 64;
constexpr int default_functions = 1000;

std::vector<Sample> draw_samples(const SineSampling& sampling, const std::vector<int>& context,
                                 int count, const Contract& contract, std::uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    SineSampling one = sampling;
    const auto span = static_cast<std::uint64_t>(context.back() - context.front() + 1);
    one.context = context.front() + static_cast<int>(random.below(span));
    samples.push_back(sine_sample(draw_sine_episode(one, 1, random), contract));
    samples.back().name = "sine function " + std::to_string(i);
  }
  return samples;
}

}  // namespace

void SineTaskOptions::describe_training(OptionTable& table) {
  table.group("Task sine: f(x) = alpha sin(x - gamma) on [-6, 6]");
  table
      .value("protocol", protocol, "few-shot: K points anywhere; masked-grid: K of 120 grid points")
      .choices({"few-shot", "masked-grid"})
      .only_with("task");
  table.list("context", context, "context points K, or smallest and largest K")
      .at_least(1)
      .only_with("task");
  table.value("queries", queries, "few-shot: query points per function and step")
      .at_least(1)
      .default_text(std::to_string(default_queries))
      .only_with("task");
  table.value("functions", functions, "masked-grid: number of training functions")
      .at_least(1)
      .default_text(std::to_string(default_functions))
      .only_with("task");
}

void SineTaskOptions::validate() const {
  if (context.empty() || context.size() > 2 || context.front() > context.back())
    throw UsageError("--context takes K, or the smallest and the largest K in this order");
  SineSampling sampling;
  sampling.protocol = sine_protocol_from_string(protocol);
  sampling.context = context.back();
  sampling.validate();
}

Recipe sine_recipe(const SineTaskOptions& options, const std::string& form) {
  Recipe recipe;
  recipe.batch = 8;
  recipe.schedule.kind = ScheduleKind::cosine;
  if (form_from_string(form) == Form::few_shot) {
    recipe.model.form = Form::few_shot;
    recipe.model.width = 32;
    recipe.model.encoder_layers = 3;
    // Two features: sin and cos span the family. More fit better with many context points and far
    // worse with four.
    recipe.model.latent = 2;
    recipe.model.basis = 16;
    recipe.model.temperature = 1.0;
    recipe.model.activation = Activation::sine;
    recipe.model.ridge = 1e-8;
    recipe.model.relative_ridge = true;
    recipe.steps = 10000;
    // The functions can be met to many digits; plain squares would stop caring long before.
    recipe.loss = Loss::log_relative_l2;
    recipe.schedule.peak = 3e-3;
    recipe.schedule.warmup_steps = 500;
    recipe.beta2 = 0.99;
    return recipe;
  }
  // The sizes of the published notebook example, trained as there: 100 passes, plain MSE.
  recipe.model.form = form_from_string(form);
  recipe.model.width = 32;
  recipe.model.heads = 4;
  recipe.model.basis = 8;
  recipe.model.blocks = 2;
  recipe.model.ffn_width = recipe.model.form == Form::sum_coefficients ? 64 : 0;
  recipe.model.ridge = 1e-4;
  recipe.batch = 32;
  recipe.epochs = 100;
  recipe.loss = Loss::mse;
  recipe.schedule.peak = 1e-3;
  if (sine_protocol_from_string(options.protocol) == SineProtocol::few_shot) {
    recipe.epochs = 0;
    recipe.steps = 3000;
  }
  return recipe;
}

SineTraining make_sine_training(const SineTaskOptions& options, Form form, int batch,
                                std::uint64_t seed) {
  options.validate();
  SineSampling sampling;
  sampling.protocol = sine_protocol_from_string(options.protocol);

  SineTraining training;
  training.contract = sine_contract(form);
  training.contract.bounds_min = {sampling.domain.x_min};
  training.contract.bounds_max = {sampling.domain.x_max};
  const bool on_the_fly =
      sampling.protocol == SineProtocol::few_shot && training.contract.source_flag();
  if (on_the_fly ? options.functions.has_value() : options.queries.has_value())
    throw UsageError(
        on_the_fly
            ? "--functions is the size of a fixed training set, but the protocol few-shot "
              "with the form few_shot draws functions on the fly; leave it away"
            : "--queries is for functions drawn on the fly, which only the protocol few-shot "
              "with the form few_shot does; leave it away");
  training.record = {{"protocol", options.protocol}, {"context", options.context}};
  training.validation = draw_samples(sampling, options.context, validation_functions,
                                     training.contract, seed ^ validation_stream);
  if (on_the_fly) {
    training.record["queries"] = options.queries.value_or(default_queries);
    SineBatchOptions batches;
    batches.domain = sampling.domain;
    batches.batch = batch;
    batches.context_min = options.context.front();
    batches.context_max = options.context.back();
    batches.queries = options.queries.value_or(default_queries);
    batches.seed = seed;
    training.batches = make_sine_batches(batches);
    // Meshes of this task hold the context points besides those of the grid.
    training.contract.min_points = sampling.base_points();
    training.contract.max_points = sampling.base_points() + options.context.back();
    return training;
  }
  const int functions = options.functions.value_or(default_functions);
  training.record["functions"] = functions;
  std::vector<Sample> samples =
      draw_samples(sampling, options.context, functions, training.contract, seed);
  training.contract.min_points = training.contract.max_points = samples.front().targets.size(0);
  training.batches = make_dataset_source(std::move(samples), batch, seed);
  return training;
}

}  // namespace funcattn
