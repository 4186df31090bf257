#include "operators/device.h"

#include <torch/cuda.h>

#include <charconv>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr const char* no_gpu =
    "LibTorch finds no GPU (none is there, or its build is without CUDA)";

}  // namespace

DeviceChoice device_choice_from_string(const std::string& text) {
  using Kind = DeviceChoice::Kind;
  if (text == "auto") return {Kind::automatic, 0};
  if (text == "cpu") return {Kind::cpu, 0};
  if (text == "cuda") return {Kind::cuda, 0};
  const std::string prefix = "cuda:";
  if (text.rfind(prefix, 0) == 0) {
    const char* end = text.data() + text.size();
    int index = -1;
    const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, index);
    if (error == std::errc() && rest == end && index >= 0) return {Kind::cuda, index};
  }
  throw UsageError("unknown device '" + text + "'; choose auto, cpu, cuda or cuda:N");
}

Device find_device(const DeviceChoice& choice, int gpus) {
  using Kind = DeviceChoice::Kind;
  if (choice.kind == Kind::cpu) return {"cpu", ""};
  const std::string name = "cuda:" + std::to_string(choice.index);
  if (choice.index < gpus) return {name, ""};
  if (choice.kind == Kind::automatic) return {"cpu", std::string(no_gpu) + ": computed on the CPU"};
  throw UsageError(
      "the device " + name + " is not there: " +
      (gpus == 0 ? std::string(no_gpu) : "the last one is cuda:" + std::to_string(gpus - 1)) +
      "; choose cpu, or auto for a GPU where there is one");
}

Device find_device(const DeviceChoice& choice) {
  // Looking for GPUs starts CUDA, which the CPU does not need.
  if (choice.kind == DeviceChoice::Kind::cpu) return find_device(choice, 0);
  return find_device(choice, static_cast<int>(torch::cuda::device_count()));
}

}  // namespace funcattn
