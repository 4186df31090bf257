#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operators/contract.h"
#include "plugin/capi/strided_array.h"
#include "plugin/stage.h"

namespace funcattn {

/// A stage with its contract in the forms that callers ask for. Shared by the jobs that use it.
struct LoadedOperator {
  explicit LoadedOperator(const std::filesystem::path& file)
      : stage(file),
        contract(Contract::from_json(stage.contract())),
        json(stage.contract().dump()) {}

  OperatorStage stage;
  Contract contract;
  std::string json;
};

/// The points that arrays of a job belong to.
enum class Side {
  source,  ///< What the operator is built on, and evaluated at where there is no query.
  query,   ///< Other points at which it is evaluated.
};

/// An operator applied to arrays that somebody else owns: OperatorStage::run() for callers without
/// meshes, with the same answers. Borrows the arrays until they are replaced or the job ends, reads
/// them in place where VTK's layout allows, and writes outputs only after everything has succeeded.
/// All setters throw UsageError and change nothing then.
class ArrayJob {
 public:
  explicit ArrayJob(std::shared_ptr<const LoadedOperator> op);

  /// Strides are in bytes, as make_strided_array() takes them.
  struct Layout {
    ScalarType type = ScalarType::float64;
    std::int64_t point_stride = 0;
    std::int64_t component_stride = 0;
  };

  /// Another number than before forgets the arrays of these points, and the outputs. @param points
  /// >= 1; 0 for Side::query: none
  void set_points(Side side, std::int64_t points);
  /// @param components 1 to 3 of x, y, z
  void set_coordinates(Side side, void* data, int components, const Layout& layout);
  /// @param axis 0, 1 or 2
  void set_axis(Side side, int axis, void* data, const Layout& layout);
  /// Null: uniform, or as the option says.
  void set_weights(void* data, const Layout& layout);
  void set_input(Side side, const std::string& name, void* data, const Layout& layout);
  /// Copies the values, one per component of a parameter of the contract; null or no
  /// values: as before any were given.
  void set_parameter(const std::string& name, const double* values, int count);
  /// Null: not wanted.
  void set_output(const std::string& name, void* data, const Layout& layout);
  /// Null: the default. Keys are described in funcattn.h.
  void set_option(const std::string& key, const char* value);

  void set_progress(ProgressCallback progress) { options_.progress = std::move(progress); }

  /// Throws what OperatorStage::run() throws; UsageError where arrays are missing or overlap,
  /// NumericError where a value does not fit into a float32 output.
  void run();

  const std::vector<std::string>& warnings() const { return warnings_; }
  std::int64_t unusable() const { return unusable_; }
  /// That computed the last run; empty if there is none.
  const std::string& device() const { return device_; }

 private:
  struct Points {
    Eigen::Index count = 0;
    std::optional<StridedArray> coordinates;  ///< All that were given at once.
    std::array<std::optional<StridedArray>, 3> axes;
    std::map<std::string, StridedArray> inputs;
  };

  Points& points_of(Side side);
  const Points& target() const { return query_.count > 0 ? query_ : source_; }
  StridedArray borrowed(Side side, const std::string& what, void* data, int components,
                        const Layout& layout);
  void check_complete() const;
  void check_overlap() const;
  Mesh make_mesh(const Points& points, const std::string& origin) const;
  StageOptions stage_options() const;
  std::string weights_name() const;
  void write_outputs(const Mesh& result) const;

  std::shared_ptr<const LoadedOperator> op_;
  Points source_;
  Points query_;
  std::optional<StridedArray> weights_;
  std::map<std::string, StridedArray> outputs_;
  StageOptions options_;
  std::vector<std::string> warnings_;
  std::int64_t unusable_ = 0;
  std::string device_;
};

}  // namespace funcattn
