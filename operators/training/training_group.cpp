#include "operators/training/training_group.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "operators/training/training_state.h"

namespace funcattn {

namespace {

/// More than so many say no more.
constexpr std::size_t named_differences = 3;

/// Losses as they travel; the counts are exact up to 2^53.
using LossNumbers = std::array<double, 4>;

LossNumbers numbers_of(const LossSum& losses) {
  return {losses.sum, static_cast<double>(losses.samples), losses.right,
          static_cast<double>(losses.judged)};
}

LossSum losses_of(const double* numbers) {
  return {numbers[0], static_cast<std::int64_t>(numbers[1]), numbers[2],
          static_cast<std::int64_t>(numbers[3])};
}

}  // namespace

LossSum TrainingGroup::total(const LossSum& mine) const {
  if (!shares_samples()) return mine;
  LossNumbers numbers = numbers_of(mine);
  processes_->sum(numbers.data(), numbers.size());
  return losses_of(numbers.data());
}

LossSum TrainingGroup::total(const LossSum& mine, const Tensor& gradients) const {
  const torch::NoGradGuard no_grad;
  const std::int64_t size = gradients.numel();
  // One exchange a step: behind the gradients stand the losses.
  const LossNumbers losses_here = numbers_of(mine);
  const auto count = static_cast<std::int64_t>(losses_here.size());
  const Tensor all = torch::empty({size + count}, torch::kFloat64);
  const Tensor sums = all.narrow(0, 0, size);
  sums.copy_(gradients);
  double* numbers = all.data_ptr<double>();
  std::copy(losses_here.begin(), losses_here.end(), numbers + size);
  processes_->sum(numbers, static_cast<std::size_t>(size + count));
  const LossSum losses = losses_of(numbers + size);
  gradients.copy_(sums / static_cast<double>(losses.samples));
  return losses;
}

void TrainingGroup::add_up(const Tensor& gradients) const {
  if (is_alone()) return;
  const torch::NoGradGuard no_grad;
  const Tensor sums = gradients.to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
  processes_->sum(sums.data_ptr<double>(), static_cast<std::size_t>(sums.numel()));
  gradients.copy_(sums);
}

std::vector<std::string> TrainingGroup::joined(const std::vector<std::string>& mine) const {
  if (!shares_samples()) return mine;
  std::vector<std::string> all;
  for (const std::string& packed : processes_->gather(packed_texts(mine)))
    for (std::string& text : unpacked_texts(packed)) all.push_back(std::move(text));
  return all;
}

void TrainingGroup::require_same(const Json& run) const {
  if (is_alone()) return;
  const std::vector<std::string> told = processes_->gather(run.dump());
  for (std::size_t rank = 1; rank < told.size(); ++rank) {
    const auto differences = differences_of(Json::parse(told.front()), Json::parse(told[rank]));
    if (differences.empty()) continue;
    std::vector<std::string> named;
    for (const Difference& one : differences) {
      if (named.size() == named_differences) {
        named.push_back("and " + std::to_string(differences.size() - named.size()) + " more");
        break;
      }
      named.push_back(one.name + " is " + one.second + ", not " + one.first);
    }
    throw UsageError("process " + std::to_string(rank) + " would train otherwise than process 0: " +
                     join(named, "; ") + "; give all processes the same options and files");
  }
}

}  // namespace funcattn
