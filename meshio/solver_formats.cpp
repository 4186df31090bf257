#include "meshio/solver_formats.h"

#include <vtkAlgorithm.h>
#include <vtkExodusIIReader.h>
#include <vtkGenericEnSightReader.h>
#include <vtkHDFReader.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleVectorKey.h>
#include <vtkNew.h>
#include <vtkOpenFOAMReader.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <mutex>

#include "core/error.h"
#include "meshio/checked_read.h"
#include "meshio/data_set_check.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/quiet_hdf5.h"
#include "meshio/trial.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// Debian's HDF5, and so netCDF, may be used by one thread at a time.
std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

void require_no_errors(vtkAlgorithm* reader, const VtkMessages& messages) {
  if (messages.has_errors()) throw DataError(messages.first_error());
  if (reader->GetErrorCode() != 0)
    throw DataError("VTK reports error code " + std::to_string(reader->GetErrorCode()));
}

std::vector<double> times_of(vtkAlgorithm* reader, const VtkMessages& messages) {
  reader->UpdateInformation();
  require_no_errors(reader, messages);
  vtkInformation* information = reader->GetOutputInformation(0);
  auto* key = vtkStreamingDemandDrivenPipeline::TIME_STEPS();
  if (!information->Has(key)) return {};
  const double* steps = information->Get(key);
  return {steps, steps + information->Length(key)};
}

vtkSmartPointer<vtkDataObject> run(vtkAlgorithm* reader, const ReadOptions& options,
                                   const VtkMessages& messages) {
  if (options.time)
    reader->UpdateTimeStep(*options.time);
  else
    reader->Update();
  require_no_errors(reader, messages);
  vtkDataObject* output = reader->GetOutputDataObject(0);
  if (!output) throw DataError("VTK found no data in it");
  const auto data = vtkSmartPointer<vtkDataObject>::Take(output->NewInstance());
  data->ShallowCopy(output);
  const MeshTree tree(data, "");
  if (tree.leaves().empty()) throw DataError("VTK found no mesh in it");
  for (std::size_t i = 0; i < tree.leaves().size(); ++i) {
    try {
      check_arrays(tree.leaves()[i].vtk());
      check_cells(tree.leaves()[i].vtk());
    } catch (const DataError& error) {
      if (tree.is_single()) throw;
      throw DataError("block '" + tree.block_paths()[i] + "': " + error.what());
    }
  }
  return data;
}

vtkSmartPointer<vtkExodusIIReader> exodus_reader(const fs::path& path,
                                                 const VtkMessages& messages) {
  inspect_exodus(FileBytes(path));
  auto reader = vtkSmartPointer<vtkExodusIIReader>::New();
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  reader->UpdateInformation();
  reader->SetAllArrayStatus(vtkExodusIIReader::NODAL, 1);
  reader->SetAllArrayStatus(vtkExodusIIReader::ELEM_BLOCK, 1);
  return reader;
}

vtkSmartPointer<vtkOpenFOAMReader> openfoam_reader(const fs::path& path,
                                                   const VtkMessages& messages) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) throw DataError("no such file");
  if (!fs::is_directory(path.parent_path() / "constant" / "polyMesh", ignored))
    throw DataError(
        "there is no folder constant/polyMesh beside it; put the .foam file into the "
        "folder of the case");
  auto reader = vtkSmartPointer<vtkOpenFOAMReader>::New();
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  reader->SkipZeroTimeOff();
  reader->DecomposePolyhedraOff();
  reader->CreateCellToPointOff();
  reader->UpdateInformation();
  reader->EnableAllCellArrays();
  reader->EnableAllPointArrays();
  return reader;
}

vtkSmartPointer<vtkGenericEnSightReader> ensight_reader(const fs::path& path,
                                                        const VtkMessages& messages) {
  inspect_ensight(path);
  auto reader = vtkSmartPointer<vtkGenericEnSightReader>::New();
  messages.observe(reader);
  reader->SetCaseFileName(fs::absolute(path).c_str());
  reader->ReadAllVariablesOn();
  return reader;
}

/// `make_reader(path, messages)` sets up a reader that damaged files may crash.
template <class MakeReader>
vtkSmartPointer<vtkDataObject> read_after_trial(const MakeReader& make_reader, const fs::path& path,
                                                const ReadOptions& options) {
  const auto read = [&] {
    const VtkMessages messages;
    return run(make_reader(path, messages), options, messages);
  };
  require_to_survive(path.parent_path(), read);
  return read();
}

template <class MakeReader>
std::vector<double> times_after_trial(const MakeReader& make_reader, const fs::path& path) {
  const auto read = [&] {
    const VtkMessages messages;
    return times_of(make_reader(path, messages), messages);
  };
  require_to_survive(path.parent_path(), read);
  return read();
}

}  // namespace

vtkSmartPointer<vtkDataObject> read_exodus(const fs::path& path, const ReadOptions& options) {
  const std::lock_guard<std::mutex> lock(hdf5_mutex());
  const VtkMessages messages;
  return run(exodus_reader(path, messages), options, messages);
}

std::vector<double> exodus_times(const fs::path& path) {
  const std::lock_guard<std::mutex> lock(hdf5_mutex());
  const VtkMessages messages;
  return times_of(exodus_reader(path, messages), messages);
}

vtkSmartPointer<vtkDataObject> read_openfoam(const fs::path& path, const ReadOptions& options) {
  return read_after_trial(openfoam_reader, path, options);
}

std::vector<double> openfoam_times(const fs::path& path) {
  return times_after_trial(openfoam_reader, path);
}

vtkSmartPointer<vtkDataObject> read_ensight(const fs::path& path, const ReadOptions& options) {
  return read_after_trial(ensight_reader, path, options);
}

std::vector<double> ensight_times(const fs::path& path) {
  return times_after_trial(ensight_reader, path);
}

vtkSmartPointer<vtkDataObject> read_vtkhdf(const fs::path& path, const ReadOptions&) {
  const std::lock_guard<std::mutex> lock(hdf5_mutex());
  // The HDF5 library itself reads outside its memory where headers of a file are damaged.
  require_to_survive(path.parent_path(), [&] { (void)inspect_vtkhdf(path); });
  const DeclaredContents declared = inspect_vtkhdf(path);
  const QuietHdf5 quiet;
  const VtkMessages messages;
  const vtkNew<vtkHDFReader> reader;
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  return read_and_compare(reader, declared.type.c_str(), declared, messages);
}

}  // namespace funcattn
