#include "operators/device.h"

#include <torch/cuda.h>

#include "operator_test_support.h"
#include "operators/operator.h"

namespace funcattn {
namespace {

using test::expect_error;

TEST(Device, IsWrittenAsLibTorchDoes) {
  EXPECT_EQ(device_choice_from_string("auto").kind, DeviceChoice::Kind::automatic);
  EXPECT_EQ(device_choice_from_string("cpu").kind, DeviceChoice::Kind::cpu);
  EXPECT_EQ(device_choice_from_string("cuda").index, 0);
  EXPECT_EQ(device_choice_from_string("cuda:12").index, 12);
  EXPECT_EQ(device_choice_from_string("cuda:12").kind, DeviceChoice::Kind::cuda);
  for (const char* text : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"})
    expect_error<UsageError>(
        [&] { (void)device_choice_from_string(text); },
        {"unknown device '" + std::string(text) + "'; choose auto, cpu, cuda or cuda:N"});
}

TEST(Device, IsOneThatIsThere) {
  const auto found = [](const char* text, int gpus) {
    return find_device(device_choice_from_string(text), gpus);
  };
  EXPECT_EQ(found("cpu", 2).name, "cpu");
  EXPECT_EQ(found("auto", 2).name, "cuda:0");
  EXPECT_EQ(found("auto", 2).note, "");
  EXPECT_EQ(found("cuda:1", 2).name, "cuda:1");
  EXPECT_EQ(found("auto", 0).name, "cpu");
  EXPECT_EQ(found("auto", 0).note,
            "LibTorch finds no GPU (none is there, or its build is without CUDA): computed on the "
            "CPU");
  expect_error<UsageError>(
      [&] { (void)found("cuda", 0); },
      {"the device cuda:0 is not there: LibTorch finds no GPU (none is there, or its build is "
       "without CUDA); choose cpu, or auto for a GPU where there is one"});
  expect_error<UsageError>([&] { (void)found("cuda:2", 2); },
                           {"the device cuda:2 is not there: the last one is cuda:1; choose cpu"});
  if (torch::cuda::is_available())
    EXPECT_EQ(find_device(device_choice_from_string("cuda")).name, "cuda:0");
  else
    expect_error<UsageError>([&] { (void)find_device(device_choice_from_string("cuda")); },
                             {"LibTorch finds no GPU"});
}

// On a machine with a GPU, on that as well.
TEST(Device, AnOperatorMovesThereAsACopy) {
  for (const Form form : {Form::paper, Form::shared_basis, Form::shared_basis_tied,
                          Form::segmentation, Form::few_shot, Form::sum_coefficients}) {
    const Operator op = test::small_operator(form, torch::kFloat64);
    const PointSamples points = test::random_samples(op, 40, 3);
    const torch::NoGradGuard no_grad;
    const Tensor expected = op.apply(points, points);
    std::vector<torch::Device> devices = {torch::kCPU};
    if (torch::cuda::is_available()) devices.emplace_back(torch::kCUDA, 0);
    for (const torch::Device& device : devices) {
      const Operator there = op.on_device(device);
      EXPECT_EQ(there.device(), device);
      EXPECT_EQ(there.contract().to_json(), op.contract().to_json());
      EXPECT_NE(there.shared_model(), op.shared_model());
      // By the operations of the model, as on a GPU.
      const Tensor found =
          there.denormalise(there.model().predict(there.normalise(points), there.normalise(points)))
              .cpu();
      EXPECT_LE((found - expected).abs().max().item<double>(),
                1e-8 * expected.abs().max().item<double>())
          << to_string(form) << " on " << device;
    }
    EXPECT_TRUE(op.device().is_cpu());
  }
}

}  // namespace
}  // namespace funcattn
