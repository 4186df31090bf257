#include "operators/engine/training_function.h"

#include "core/error.h"
#include "operators/engine/training_network.h"

namespace funcattn {

namespace {

template <class T>
struct Step : torch::CustomClassHolder {
  Step(const NetworkDescription& description, Tensor step_features, Tensor step_weights,
       Tensor step_shares, ProcessGroup* processes)
      : features(std::move(step_features)),
        weights(std::move(step_weights)),
        shares(std::move(step_shares)),
        outputs(description.outputs) {
    pass = std::make_unique<TrainingPass<T>>(
        description,
        panel_sources<T>(features, {}, weights, shares, {}, Reduction(processes, false)),
        processes);
  }
  Tensor features, weights, shares;
  int outputs;
  std::unique_ptr<TrainingPass<T>> pass;
};

template <class T>
class TrainingFunction : public torch::autograd::Function<TrainingFunction<T>> {
 public:
  using StepPointer = c10::intrusive_ptr<Step<T>>;

  static Tensor forward(torch::autograd::AutogradContext* context, const StepPointer& step,
                        at::TensorList tensors) {
    // Saved as such, so that LibTorch notices if one is overwritten before the backward.
    context->save_for_backward(tensors.vec());
    context->saved_data["step"] = c10::IValue::make_capsule(step);
    const Tensor result = at::empty({step->features.size(0), step->features.size(1), step->outputs},
                                    step->features.options());
    step->pass->forward(result.template data_ptr<T>());
    return result;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    if (at::GradMode::is_enabled())
      throw UsageError(
          "model: second derivatives are not available; call backward without create_graph");
    const std::vector<Tensor> tensors = context->get_saved_variables();
    const auto step =
        c10::static_intrusive_pointer_cast<Step<T>>(context->saved_data["step"].toCapsule());
    const Tensor gradient = gradients[0].contiguous();
    std::vector<Tensor> results = step->pass->backward(gradient.template data_ptr<T>());
    torch::autograd::tensor_list all(1 + tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
      all[i + 1] = results[i].to(tensors[i].scalar_type()).reshape(tensors[i].sizes());
    return all;
  }
};

template <class T>
Tensor run(const NetworkDescription& description, const std::vector<Tensor>& tensors,
           const Tensor& features, const Tensor& weights, const Tensor& shares,
           ProcessGroup* processes) {
  const auto like_features = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.to(features.scalar_type()).contiguous() : tensor;
  };
  const auto step = c10::make_intrusive<Step<T>>(
      description, features.contiguous(), like_features(weights), like_features(shares), processes);
  return TrainingFunction<T>::apply(step, at::TensorList(tensors));
}

Tensor run(NetworkDescription& description, const Tensor& features, const Tensor& weights,
           const Tensor& shares = {}, ProcessGroup* processes = nullptr) {
  std::vector<Tensor> tensors;
  for (const Tensor* tensor : network_tensors(description)) tensors.push_back(*tensor);
  if (features.scalar_type() == torch::kFloat32)
    return run<float>(description, tensors, features, weights, shares, processes);
  return run<double>(description, tensors, features, weights, shares, processes);
}

}  // namespace

Tensor predict_for_training(const Model& model, const Tensor& features, const Tensor& weights) {
  if (!at::GradMode::is_enabled() || !features.is_cpu() || features.requires_grad() ||
      features.numel() == 0)
    return {};
  NetworkDescription description = describe_network(model);
  if (!is_trainable_on_panels(description)) return {};
  return run(description, features, weights);
}

void require_learning_from_pieces(const Model& model) {
  if (!model.has_engine() || !is_trainable_on_panels(describe_network(model)) ||
      !model.parameters().front().is_cpu())
    throw UsageError(
        "only the forms shared_basis, shared_basis_tied and paper with functional attention learn, "
        "on the CPU, from samples of which several processes hold pieces; train on whole samples");
}

Tensor predict_in_pieces_for_training(const Model& model, const Tensor& features,
                                      const Tensor& weights, const Tensor& shares,
                                      ProcessGroup& processes) {
  require_learning_from_pieces(model);
  NetworkDescription description = describe_network(model);
  return run(description, features, weights, shares, &processes);
}

}  // namespace funcattn
