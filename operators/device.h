#pragma once

#include <string>

namespace funcattn {

/// Where a model shall compute, as users write it.
struct DeviceChoice {
  enum class Kind { automatic, cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  ///< Of a CUDA device.
};

/// auto, cpu, cuda (the first one) or cuda:N. Throws UsageError for anything else.
DeviceChoice device_choice_from_string(const std::string& text);

/// A device of this machine.
struct Device {
  std::string name;  ///< "cpu" or "cuda:N", as LibTorch calls it.
  std::string note;  ///< Why it is not the one that "auto" hoped for; empty otherwise.
  bool is_cpu() const { return name == "cpu"; }
};

/// The device that the choice comes to here; the CPU with a note where "auto" finds no GPU. Throws
/// UsageError where the GPU that was asked for is not there.
Device find_device(const DeviceChoice& choice);

/// As above, of a machine with this many GPUs.
Device find_device(const DeviceChoice& choice, int gpus);

}  // namespace funcattn
