// The functions of funcattn.h: handles, codes and messages. No exception passes from here.

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "core/error.h"
#include "core/memory_error.h"
#include "plugin/capi/array_job.h"
#include "plugin/capi/funcattn.h"

static_assert(FUNCATTN_VERSION_MAJOR == FUNCATTN_PROJECT_VERSION_MAJOR &&
                  FUNCATTN_VERSION_MINOR == FUNCATTN_PROJECT_VERSION_MINOR &&
                  FUNCATTN_VERSION_PATCH == FUNCATTN_PROJECT_VERSION_PATCH,
              "funcattn.h and the project's CMakeLists.txt name different versions");

struct funcattn_status {
  int code = FUNCATTN_OK;
  std::string message;
  const char* fallback = nullptr;  ///< Where there is no memory for a message.
};

struct funcattn_operator {
  std::shared_ptr<const funcattn::LoadedOperator> loaded;
};

struct funcattn_job {
  funcattn::ArrayJob job;
};

namespace {

using namespace funcattn;

constexpr const char* no_memory =
    "out of memory; the option \"memory\" (spilled or recomputed) needs less";

int record(funcattn_status* status, int code, const char* message) noexcept {
  if (status == nullptr) return code;
  status->code = code;
  status->fallback = nullptr;
  try {
    status->message = message;
  } catch (const std::bad_alloc&) {
    status->message.clear();
    status->fallback = no_memory;
  }
  return code;
}

/// The code and message of the exception that is being handled.
int record_exception(funcattn_status* status) noexcept {
  try {
    throw;
  } catch (const UsageError& error) {
    return record(status, FUNCATTN_USAGE_ERROR, error.what());
  } catch (const OperatorFileError& error) {
    return record(status, FUNCATTN_OPERATOR_ERROR, error.what());
  } catch (const FileError& error) {
    return record(status, FUNCATTN_FILE_ERROR, error.what());
  } catch (const MemoryError& error) {
    return record(status, FUNCATTN_MEMORY_ERROR, error.what());
  } catch (const DataError& error) {
    return record(status, FUNCATTN_DATA_ERROR, error.what());
  } catch (const NumericError& error) {
    return record(status, FUNCATTN_NUMERIC_ERROR, error.what());
  } catch (const Cancelled& error) {
    return record(status, FUNCATTN_CANCELLED, error.what());
  } catch (const std::bad_alloc&) {
    return record(status, FUNCATTN_MEMORY_ERROR, no_memory);
  } catch (const std::exception& error) {
    // LibTorch has no exception type of its own for this.
    if (std::strstr(error.what(), "can't allocate memory") != nullptr)
      return record(status, FUNCATTN_MEMORY_ERROR, no_memory);
    return record(status, FUNCATTN_INTERNAL_ERROR, error.what());
  } catch (...) {
    return record(status, FUNCATTN_INTERNAL_ERROR, "an exception of unknown type");
  }
}

template <class Action>
int guarded(funcattn_status* status, const Action& action) noexcept {
  try {
    action();
    return record(status, FUNCATTN_OK, "");
  } catch (...) {
    return record_exception(status);
  }
}

template <class Pointer>
Pointer* required(Pointer* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(std::string(what) + " is NULL");
  return pointer;
}

Side side_of(int where) {
  if (where == FUNCATTN_SOURCE) return Side::source;
  if (where == FUNCATTN_QUERY) return Side::query;
  throw UsageError("the points " + std::to_string(where) +
                   " are neither FUNCATTN_SOURCE (0) nor FUNCATTN_QUERY (1)");
}

ArrayJob::Layout layout_of(int type, std::int64_t point_stride, std::int64_t component_stride = 0) {
  switch (type) {
    case FUNCATTN_FLOAT:
      return {ScalarType::float32, point_stride, component_stride};
    case FUNCATTN_DOUBLE:
      return {ScalarType::float64, point_stride, component_stride};
    case FUNCATTN_INT32:
      return {ScalarType::int32, point_stride, component_stride};
    case FUNCATTN_INT64:
      return {ScalarType::int64, point_stride, component_stride};
    case FUNCATTN_UINT8:
      return {ScalarType::uint8, point_stride, component_stride};
    default:
      throw UsageError("the type " + std::to_string(type) +
                       " is unknown; expected FUNCATTN_FLOAT (1), FUNCATTN_DOUBLE (2), "
                       "FUNCATTN_INT32 (3), FUNCATTN_INT64 (4) or FUNCATTN_UINT8 (5)");
  }
}

/// Inputs are read only; they share a type with outputs, which are not.
void* writable(const void* data) {
  return const_cast<void*>(data);
}

template <class Spec>
const Spec* at(const std::vector<Spec>& specs, int index) {
  const bool there = index >= 0 && static_cast<std::size_t>(index) < specs.size();
  return there ? &specs[static_cast<std::size_t>(index)] : nullptr;
}

const InputArray* input_at(const funcattn_operator* op, int index) {
  return op ? at(op->loaded->contract.inputs, index) : nullptr;
}

const ArraySpec* output_at(const funcattn_operator* op, int index) {
  return op ? at(op->loaded->contract.outputs, index) : nullptr;
}

int association_code(const ArraySpec* spec) {
  if (spec == nullptr) return -1;
  return spec->association == Association::point ? FUNCATTN_POINT : FUNCATTN_CELL;
}

int association_code(const InputArray* input) {
  if (input && input->role == InputRole::parameter) return FUNCATTN_FIELD;
  return association_code(static_cast<const ArraySpec*>(input));
}

/// A bound of a parameter's range, whose components may be unknown.
double bound_at(const std::vector<double>* bounds, int component) {
  const double* bound = bounds ? at(*bounds, component) : nullptr;
  return bound ? *bound : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

extern "C" {

int funcattn_version_number(void) {
  return FUNCATTN_VERSION_NUMBER;
}

const char* funcattn_version(void) {
  return FUNCATTN_PROJECT_VERSION;
}

int funcattn_is_compatible(int number) {
  return number / 10000 == FUNCATTN_VERSION_MAJOR && number <= FUNCATTN_VERSION_NUMBER ? 1 : 0;
}

funcattn_status* funcattn_status_create(void) {
  return new (std::nothrow) funcattn_status;
}

void funcattn_status_free(funcattn_status* status) {
  delete status;
}

int funcattn_status_code(const funcattn_status* status) {
  return status ? status->code : FUNCATTN_USAGE_ERROR;
}

const char* funcattn_status_message(const funcattn_status* status) {
  if (status == nullptr) return "status is NULL";
  return status->fallback ? status->fallback : status->message.c_str();
}

int funcattn_load(const char* path, funcattn_operator** op, funcattn_status* status) {
  return guarded(status, [&] {
    *required(op, "op") = nullptr;
    auto loaded = std::make_shared<const LoadedOperator>(required(path, "path"));
    *op = new funcattn_operator{std::move(loaded)};
  });
}

void funcattn_free(funcattn_operator* op) {
  delete op;
}

int funcattn_input_count(const funcattn_operator* op) {
  return op ? static_cast<int>(op->loaded->contract.inputs.size()) : -1;
}

const char* funcattn_input_name(const funcattn_operator* op, int index) {
  const InputArray* input = input_at(op, index);
  return input ? input->name.c_str() : nullptr;
}

const char* funcattn_input_unit(const funcattn_operator* op, int index) {
  const InputArray* input = input_at(op, index);
  return input ? input->unit.c_str() : nullptr;
}

int funcattn_input_components(const funcattn_operator* op, int index) {
  const InputArray* input = input_at(op, index);
  return input ? input->components : -1;
}

int funcattn_input_association(const funcattn_operator* op, int index) {
  return association_code(input_at(op, index));
}

int funcattn_input_role(const funcattn_operator* op, int index) {
  const InputArray* input = input_at(op, index);
  if (input == nullptr) return -1;
  if (input->role == InputRole::parameter) return FUNCATTN_PARAMETER;
  return input->role == InputRole::source_flag ? FUNCATTN_SOURCE_FLAG : FUNCATTN_VALUE;
}

double funcattn_input_min(const funcattn_operator* op, int index, int component) {
  const InputArray* input = input_at(op, index);
  return bound_at(input ? &input->min : nullptr, component);
}

double funcattn_input_max(const funcattn_operator* op, int index, int component) {
  const InputArray* input = input_at(op, index);
  return bound_at(input ? &input->max : nullptr, component);
}

int funcattn_output_count(const funcattn_operator* op) {
  return op ? static_cast<int>(op->loaded->contract.outputs.size()) : -1;
}

const char* funcattn_output_name(const funcattn_operator* op, int index) {
  const ArraySpec* output = output_at(op, index);
  return output ? output->name.c_str() : nullptr;
}

const char* funcattn_output_unit(const funcattn_operator* op, int index) {
  const ArraySpec* output = output_at(op, index);
  return output ? output->unit.c_str() : nullptr;
}

int funcattn_output_components(const funcattn_operator* op, int index) {
  const ArraySpec* output = output_at(op, index);
  return output ? output->components : -1;
}

int funcattn_output_association(const funcattn_operator* op, int index) {
  return association_code(output_at(op, index));
}

int funcattn_dimension(const funcattn_operator* op) {
  return op ? op->loaded->contract.coordinates.dimension() : -1;
}

int funcattn_axis(const funcattn_operator* op, int index) {
  const int* axis = op ? at(op->loaded->contract.coordinates.axes, index) : nullptr;
  return axis ? *axis : -1;
}

int64_t funcattn_min_points(const funcattn_operator* op) {
  return op ? op->loaded->contract.min_points : -1;
}

int64_t funcattn_max_points(const funcattn_operator* op) {
  return op ? op->loaded->contract.max_points : -1;
}

const char* funcattn_contract_json(const funcattn_operator* op) {
  return op ? op->loaded->json.c_str() : nullptr;
}

int funcattn_job_create(const funcattn_operator* op, funcattn_job** job, funcattn_status* status) {
  return guarded(status, [&] {
    *required(job, "job") = nullptr;
    *job = new funcattn_job{ArrayJob(required(op, "op")->loaded)};
  });
}

void funcattn_job_free(funcattn_job* job) {
  delete job;
}

int funcattn_job_set_points(funcattn_job* job, int where, int64_t points, funcattn_status* status) {
  return guarded(status, [&] { required(job, "job")->job.set_points(side_of(where), points); });
}

int funcattn_job_set_coordinates(funcattn_job* job, int where, const void* data, int type,
                                 int components, int64_t point_stride, int64_t component_stride,
                                 funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")
        ->job.set_coordinates(side_of(where), writable(data), components,
                              layout_of(type, point_stride, component_stride));
  });
}

int funcattn_job_set_axis(funcattn_job* job, int where, int axis, const void* data, int type,
                          int64_t point_stride, funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")
        ->job.set_axis(side_of(where), axis, writable(data), layout_of(type, point_stride));
  });
}

int funcattn_job_set_weights(funcattn_job* job, const void* data, int type, int64_t point_stride,
                             funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")
        ->job.set_weights(writable(data), layout_of(data ? type : FUNCATTN_DOUBLE, point_stride));
  });
}

int funcattn_job_set_input(funcattn_job* job, int where, const char* name, const void* data,
                           int type, int64_t point_stride, int64_t component_stride,
                           funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")
        ->job.set_input(side_of(where), required(name, "name"), writable(data),
                        layout_of(type, point_stride, component_stride));
  });
}

int funcattn_job_set_parameter(funcattn_job* job, const char* name, const double* values, int count,
                               funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")->job.set_parameter(required(name, "name"), values, count);
  });
}

int funcattn_job_set_output(funcattn_job* job, const char* name, void* data, int type,
                            int64_t point_stride, int64_t component_stride,
                            funcattn_status* status) {
  return guarded(status, [&] {
    required(job, "job")
        ->job.set_output(required(name, "name"), data,
                         layout_of(data ? type : FUNCATTN_DOUBLE, point_stride, component_stride));
  });
}

int funcattn_job_set_option(funcattn_job* job, const char* key, const char* value,
                            funcattn_status* status) {
  return guarded(status,
                 [&] { required(job, "job")->job.set_option(required(key, "key"), value); });
}

int funcattn_job_set_progress(funcattn_job* job, funcattn_progress progress, void* user,
                              funcattn_status* status) {
  return guarded(status, [&] {
    ArrayJob& chosen = required(job, "job")->job;
    if (progress == nullptr)
      chosen.set_progress({});
    else
      chosen.set_progress([=](double fraction) { return progress(fraction, user) == 0; });
  });
}

int funcattn_run(funcattn_job* job, funcattn_status* status) {
  return guarded(status, [&] { required(job, "job")->job.run(); });
}

int funcattn_job_warning_count(const funcattn_job* job) {
  return job ? static_cast<int>(job->job.warnings().size()) : -1;
}

const char* funcattn_job_warning(const funcattn_job* job, int index) {
  const std::string* warning = job ? at(job->job.warnings(), index) : nullptr;
  return warning ? warning->c_str() : nullptr;
}

int64_t funcattn_job_unusable_count(const funcattn_job* job) {
  return job ? job->job.unusable() : -1;
}

const char* funcattn_job_device(const funcattn_job* job) {
  return job ? job->job.device().c_str() : nullptr;
}

}  // extern "C"
