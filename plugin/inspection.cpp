#include "plugin/inspection.h"

#include <c10/core/InferenceMode.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/memory_error.h"
#include "meshio/added_arrays.h"
#include "operators/inspection.h"
#include "operators/threads.h"

namespace funcattn {

namespace {

std::string of_block(const std::string& what, int block) {
  return what + "_block" + std::to_string(block);
}

std::string of_head(const std::string& what, int block, int head) {
  return of_block(what, block) + "_head" + std::to_string(head);
}

bool queries_act_directly(const Operator& op) {
  return op.model().config().form == Form::few_shot;
}

/// Whether coefficients are taken in other functions than those that reconstruct.
bool has_two_bases(const Operator& op) {
  const ModelConfig& config = op.model().config();
  return config.form == Form::paper || config.form == Form::sum_coefficients ||
         config.bases != Bases::shared;
}

/// Attention between points has neither basis nor transport.
bool attends_to_points(const Operator& op) {
  return op.model().config().attention == Attention::softmax;
}

int head_count(const Operator& op) {
  return queries_act_directly(op) ? 1 : op.model().config().heads;
}

std::vector<int> chosen_blocks(const Operator& op, const StageOptions& options) {
  std::vector<int> blocks = options.inspection.blocks;
  if (blocks.empty())
    for (int block = 1; block <= attention_blocks(op.model().config()); ++block)
      blocks.push_back(block);
  return blocks;
}

/// What the arrays at the points are called before block and head.
struct BasisNames {
  std::string source = "basis";
  std::string query;  ///< Empty where one basis serves both.
};

BasisNames basis_names(const Operator& op) {
  if (queries_act_directly(op)) return {"basis_source", "response"};
  if (has_two_bases(op)) return {"basis_source", "basis_query"};
  return {};
}

[[noreturn]] void refuse_existing(const Mesh& mesh, const std::string& kind,
                                  const std::string& name) {
  throw DataError(mesh.origin() + ": the " + kind + " array '" + name +
                  "', which would receive what is seen inside the operator, exists already; remove "
                  "it or allow overwriting");
}

/// NaN where a result is unusable or where `rows` does not reach.
/// @param values [rows,k] @param first, count the results of this mesh
/// @param rows row of `values` for each result, or -1; empty: the same
template <class Array, class Number>
vtkSmartPointer<vtkDataArray> rows_of(const Tensor& values, const std::vector<std::int64_t>& rows,
                                      const std::vector<bool>& unusable, Eigen::Index first,
                                      Eigen::Index count) {
  const auto array = vtkSmartPointer<Array>::New();
  const std::int64_t functions = values.size(1);
  array->SetNumberOfComponents(static_cast<int>(functions));
  array->SetNumberOfTuples(count);
  const Number* from = values.data_ptr<Number>();
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto result = static_cast<std::size_t>(first + i);
    const std::int64_t row = rows.empty() ? first + i : rows[result];
    Number* to = array->GetPointer(i * functions);
    if (row < 0 || unusable[result])
      std::fill_n(to, functions, std::numeric_limits<Number>::quiet_NaN());
    else
      std::copy_n(from + row * functions, functions, to);
  }
  return array;
}

void name_components(vtkDataArray& array, const std::string& what) {
  for (int i = 0; i < array.GetNumberOfComponents(); ++i)
    array.SetComponentName(i, (what + " " + std::to_string(i + 1)).c_str());
}

/// An array of `columns` components from numbers row after row.
vtkSmartPointer<vtkDataArray> table(const std::string& name, const std::vector<double>& values,
                                    int columns, const std::string& column) {
  const auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetName(name.c_str());
  array->SetNumberOfComponents(columns);
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()) / columns);
  std::copy(values.begin(), values.end(), array->GetPointer(0));
  name_components(*array, column);
  return array;
}

/// One component per head, one tuple per entry of what `figures` gives of a head.
template <class Figures>
vtkSmartPointer<vtkDataArray> by_head(const std::string& name,
                                      const std::vector<HeadInspection>& heads,
                                      const Figures& figures) {
  std::vector<std::vector<double>> columns;
  for (const HeadInspection& head : heads) columns.push_back(figures(head));
  std::vector<double> rows;
  for (std::size_t i = 0; i < columns.front().size(); ++i)
    for (const auto& column : columns) rows.push_back(column[i]);
  return table(name, rows, static_cast<int>(heads.size()), "head");
}

VtkArrays attention_tables(const BlockInspection& block) {
  return {by_head(of_block("entropy", block.block), block.heads, [](const HeadInspection& head) {
    return std::vector<double>{head.points->entropy};
  })};
}

VtkArrays basis_tables(const BlockInspection& block) {
  const auto name = [&](const char* what) { return of_block(what, block.block); };
  VtkArrays arrays;
  arrays.push_back(by_head(name("coverage"), block.heads,
                           [](const HeadInspection& head) { return head.basis.coverage; }));
  arrays.push_back(by_head(name("entropy"), block.heads, [](const HeadInspection& head) {
    return std::vector<double>{head.basis.entropy};
  }));
  return arrays;
}

VtkArrays transport_tables(const BlockInspection& block) {
  VtkArrays arrays;
  for (const HeadInspection& head : block.heads)
    arrays.push_back(table(of_head("transport", head.block, head.head), head.transport,
                           head.columns, "function"));
  arrays.push_back(by_head(of_block("singular_values", block.block), block.heads,
                           [](const HeadInspection& head) { return head.singular_values; }));
  arrays.push_back(by_head(
      of_block("condition_number", block.block), block.heads,
      [](const HeadInspection& head) { return std::vector<double>{head.condition_number}; }));
  return arrays;
}

std::vector<std::string> field_array_names(const Operator& op, int block,
                                           const StageOptions& options) {
  std::vector<std::string> names;
  if (attends_to_points(op)) {
    if (options.add_basis) names = {of_block("entropy", block)};
    return names;
  }
  if (options.add_basis) names = {of_block("coverage", block), of_block("entropy", block)};
  if (!options.add_transport) return names;
  for (int head = 1; head <= head_count(op); ++head)
    names.push_back(of_head("transport", block, head));
  names.push_back(of_block("singular_values", block));
  names.push_back(of_block("condition_number", block));
  return names;
}

/// Puts what is seen of the blocks on the meshes, one block after the other.
class MeshReceiver {
 public:
  MeshReceiver(const Operator& op, const BoundStage& bound, std::vector<Mesh> meshes,
               const StageOptions& options)
      : bound_(bound),
        association_(op.contract().association()),
        names_(basis_names(op)),
        separates_(op.model().separates_query()),
        meshes_(std::move(meshes)),
        options_(options) {
    if (bound.source_entries.empty()) return;
    source_rows_.assign(bound.unusable.size(), -1);
    for (std::size_t i = 0; i < bound.source_entries.size(); ++i)
      source_rows_[static_cast<std::size_t>(bound.source_entries[i])] =
          static_cast<std::int64_t>(i);
  }

  void receive(const BlockInspection& block) {
    VtkArrays fields;
    if (block.heads.front().points) {
      if (!options_.add_basis) return;
      add_attention(block);
      fields = attention_tables(block);
    } else if (options_.add_basis) {
      add_bases(block);
      fields = basis_tables(block);
    }
    if (options_.add_transport && !block.heads.front().points)
      for (auto& array : transport_tables(block)) fields.push_back(std::move(array));
    if (!fields.empty()) meshes_.front() = with_field_arrays(meshes_.front(), fields);
  }

  std::vector<Mesh> take() { return std::move(meshes_); }

 private:
  /// What the points receive; those of a query mesh receive nothing.
  void add_attention(const BlockInspection& block) {
    if (bound_.source_is_apart) return;
    add(of_block("attention", block.block), block.received.t(), {}, "head");
  }

  void add_bases(const BlockInspection& block) {
    // A source on another mesh is not there to be shown, unless its points joined the queries.
    const bool shows_source = !bound_.source_is_apart || !separates_;
    const bool shows_query = !names_.query.empty();
    for (std::size_t head = 0; head < block.heads.size(); ++head) {
      const auto of = [&](const Tensor& basis) { return basis[static_cast<std::int64_t>(head)]; };
      if (shows_source)
        add(of_head(names_.source, block.block, static_cast<int>(head) + 1), of(block.source_basis),
            source_rows_);
      if (!shows_query) continue;
      Tensor functions = of(block.query_basis);
      if (block.queries_act_directly)
        functions = at::matmul(functions.to(torch::kFloat64), of(block.transport))
                        .to(functions.scalar_type());
      add(of_head(names_.query, block.block, static_cast<int>(head) + 1), functions, {});
    }
  }

  void add(const std::string& name, const Tensor& basis, const std::vector<std::int64_t>& rows,
           const char* component = "function") {
    // Joined sources come before the results.
    const std::int64_t skipped = rows.empty() ? bound_.first_result : 0;
    const Tensor values =
        basis.narrow(0, skipped, basis.size(0) - skipped).to(torch::kCPU).contiguous();
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < meshes_.size(); ++i) {
      const Eigen::Index count = bound_.counts[i];
      const auto array =
          values.scalar_type() == torch::kFloat32
              ? rows_of<vtkFloatArray, float>(values, rows, bound_.unusable, first, count)
              : rows_of<vtkDoubleArray, double>(values, rows, bound_.unusable, first, count);
      array->SetName(name.c_str());
      name_components(*array, component);
      meshes_[i] = with_arrays(meshes_[i], {array}, association_);
      first += count;
    }
  }

  const BoundStage& bound_;
  Association association_;
  BasisNames names_;
  bool separates_;
  std::vector<Mesh> meshes_;
  const StageOptions& options_;
  std::vector<std::int64_t> source_rows_;  ///< Of the results; empty: they are the source.
};

}  // namespace

bool asks_for_inspection(const StageOptions& options) {
  return options.add_basis || options.add_transport || options.report_heads;
}

void check_inspection(const Operator& op, const std::vector<Mesh>& meshes,
                      const StageOptions& options) {
  if (!asks_for_inspection(options)) return;
  check_blocks(op.model().config(), options.inspection);
  if (options.overwrite || meshes.empty()) return;
  const BasisNames names = basis_names(op);
  const std::vector<std::string> fields = meshes.front().field_names();
  const auto require_free = [&](const std::string& name) {
    for (const Mesh& mesh : meshes)
      if (mesh.has_array(name, op.contract().association()))
        refuse_existing(mesh, to_string(op.contract().association()), name);
  };
  for (const int block : chosen_blocks(op, options)) {
    if (attends_to_points(op) && options.add_basis) require_free(of_block("attention", block));
    for (int head = 1; head <= head_count(op) && options.add_basis && !attends_to_points(op);
         ++head)
      for (const std::string& what : {names.source, names.query})
        if (!what.empty()) require_free(of_head(what, block, head));
    for (const std::string& name : field_array_names(op, block, options))
      if (std::find(fields.begin(), fields.end(), name) != fields.end())
        refuse_existing(meshes.front(), "field", name);
  }
}

std::vector<Mesh> inspect_sample(const Operator& op, const BoundStage& bound,
                                 std::vector<Mesh> meshes, const std::string& origin,
                                 const StageOptions& options, StageReport& report) {
  const ThreadScope scope(options.threads);
  const c10::InferenceMode inference;
  InspectionOptions how = options.inspection;
  how.keep_basis = options.add_basis;
  const PointSamples source = op.normalise(add_batch_axis(bound.source));
  const PointSamples query =
      bound.query_is_source ? source : op.normalise(add_batch_axis(bound.query));
  MeshReceiver receiver(op, bound, std::move(meshes), options);
  SampleInspection sample{origin, {}};
  const std::size_t blocks = chosen_blocks(op, options).size();
  std::size_t seen = 0;
  try {
    (void)inspect(op.model(), source, query, how, [&](const BlockInspection& block) {
      receiver.receive(block);
      report_progress(options.progress, static_cast<double>(++seen) / static_cast<double>(blocks));
      if (options.report_heads)
        sample.heads.insert(sample.heads.end(), block.heads.begin(), block.heads.end());
    });
  } catch (const MemoryError& error) {
    throw MemoryError(origin + ": " + error.what());
  } catch (const DataError& error) {
    throw DataError(origin + ": " + error.what());
  }
  if (options.report_heads) report.inspections.push_back(std::move(sample));
  return receiver.take();
}

}  // namespace funcattn
