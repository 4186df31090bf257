#include "operators/grouped_function.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace funcattn {

namespace {

/// One without rows has one of none: its result has sizes too.
std::int64_t group_count(const GroupedFunction& function) {
  return std::max<std::int64_t>(1, (function.rows + function.at_a_time - 1) / function.at_a_time);
}

/// Calls visit(first, count) for a group.
template <class Visit>
void visit_group(const GroupedFunction& function, std::int64_t index, const Visit& visit) {
  const std::int64_t first = index * function.at_a_time;
  visit(first, std::min(function.at_a_time, function.rows - first));
}

template <class Visit>
void for_each_group(const GroupedFunction& function, const Visit& visit) {
  for (std::int64_t i = 0; i < group_count(function); ++i) visit_group(function, i, visit);
}

/// The last one first, as LibTorch's backward would add up what it keeps.
template <class Visit>
void for_each_group_backwards(const GroupedFunction& function, const Visit& visit) {
  for (std::int64_t i = group_count(function); i-- > 0;) visit_group(function, i, visit);
}

/// `tensor`, or of one that is split the rows of a group.
Tensor of_group(const Tensor& tensor, int axis, std::int64_t first, std::int64_t count) {
  return axis == GroupedFunction::whole_tensor ? tensor : tensor.narrow(axis, first, count);
}

std::vector<Tensor> of_group(const GroupedFunction& function, const std::vector<Tensor>& tensors,
                             std::int64_t first, std::int64_t count) {
  std::vector<Tensor> some;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    some.push_back(of_group(tensors[i], function.axes[i], first, count));
  return some;
}

/// Into memory that is there before the first group: what a group leaves behind would lie between
/// the buffers that it frees, and the next one's would not fit in there.
Tensor evaluate_without_gradients(const GroupedFunction& function,
                                  const std::vector<Tensor>& tensors) {
  Tensor all;
  for_each_group(function, [&](std::int64_t first, std::int64_t count) {
    const Tensor result = function.group(of_group(function, tensors, first, count), first);
    if (!all.defined()) {
      std::vector<std::int64_t> sizes = result.sizes().vec();
      sizes[static_cast<std::size_t>(function.result_axis)] = function.rows;
      all = at::empty(sizes, result.options());
    }
    all.narrow(function.result_axis, first, count).copy_(result);
  });
  return all;
}

struct Held : torch::CustomClassHolder {
  explicit Held(GroupedFunction held) : function(std::move(held)) {}
  GroupedFunction function;
};

class Recomputation : public torch::autograd::Function<Recomputation> {
 public:
  using HeldPointer = c10::intrusive_ptr<Held>;

  static Tensor forward(torch::autograd::AutogradContext* context, const HeldPointer& held,
                        at::TensorList tensors) {
    context->save_for_backward(tensors.vec());
    context->saved_data["function"] = c10::IValue::make_capsule(held);
    return evaluate_without_gradients(held->function, tensors.vec());
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    if (at::GradMode::is_enabled())
      throw UsageError(
          "model: second derivatives are not available; call backward without create_graph");
    const auto held =
        c10::static_intrusive_pointer_cast<Held>(context->saved_data["function"].toCapsule());
    const GroupedFunction& function = held->function;
    const std::vector<Tensor> saved = context->get_saved_variables();
    torch::autograd::tensor_list all(1 + saved.size());  // The function itself has none.
    for (std::size_t i = 0; i < saved.size(); ++i)
      if (saved[i].requires_grad()) all[i + 1] = at::zeros_like(saved[i]);
    for_each_group_backwards(function, [&](std::int64_t first, std::int64_t count) {
      const Tensor gradient = gradients[0].narrow(function.result_axis, first, count);
      std::vector<Tensor> tensors, wanted;
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < saved.size(); ++i) {
        tensors.push_back(of_group(saved[i].detach(), function.axes[i], first, count));
        if (!saved[i].requires_grad()) continue;
        // A parameter as it is: the function may hold it too.
        const bool is_parameter =
            saved[i].is_leaf() && function.axes[i] == GroupedFunction::whole_tensor;
        tensors.back() = is_parameter ? saved[i] : tensors.back().requires_grad_();
        wanted.push_back(tensors.back());
        places.push_back(i);
      }
      std::vector<Tensor> found;
      {
        const at::AutoGradMode recording(true);
        found = torch::autograd::grad({function.group(tensors, first)}, wanted, {gradient},
                                      /*retain_graph=*/false, /*create_graph=*/false,
                                      /*allow_unused=*/true);
      }
      for (std::size_t j = 0; j < found.size(); ++j)
        if (found[j].defined())
          of_group(all[places[j] + 1], function.axes[places[j]], first, count).add_(found[j]);
    });
    return all;
  }
};

}  // namespace

Tensor evaluate(const GroupedFunction& function, const std::vector<Tensor>& tensors, bool keeps) {
  const bool records =
      at::GradMode::is_enabled() && std::any_of(tensors.begin(), tensors.end(),
                                                [](const Tensor& t) { return t.requires_grad(); });
  if (!records) return evaluate_without_gradients(function, tensors);
  if (!keeps)
    return Recomputation::apply(c10::make_intrusive<Held>(function), at::TensorList(tensors));
  std::vector<Tensor> results;
  for_each_group(function, [&](std::int64_t first, std::int64_t count) {
    results.push_back(function.group(of_group(function, tensors, first, count), first));
  });
  return results.size() == 1 ? results.front() : at::cat(results, function.result_axis);
}

}  // namespace funcattn
