#include <hdf5.h>

#include <array>
#include <numeric>

#include "core/error.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/quiet_hdf5.h"

namespace funcattn {

namespace {

/// An HDF5 identifier with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class VtkhdfInspector {
 public:
  VtkhdfInspector(hid_t group, std::uint64_t file_size) : group_(group), file_size_(file_size) {}

  DeclaredContents run() {
    check_version();
    const std::string type = text_attribute("Type");
    contents_.type = type == "ImageData" ? "vtkImageData" : "vtkUnstructuredGrid";
    if (type == "ImageData")
      inspect_image();
    else if (type == "UnstructuredGrid")
      inspect_grid();
    else
      throw DataError("its Type is '" + type.substr(0, 40) +
                      "'; VTK 9.1 reads ImageData and UnstructuredGrid");
    if (H5Lexists(group_, "Steps", H5P_DEFAULT) > 0)
      throw DataError("it holds time steps, which VTK 9.1 cannot read from VTKHDF");
    contents_.point_arrays = arrays_of("PointData", contents_.points);
    contents_.cell_arrays = arrays_of("CellData", contents_.cells);
    contents_.field_arrays = arrays_of("FieldData", -1);
    return contents_;
  }

 private:
  static DataError damaged(const std::string& what) {
    return DataError(what + "; the file is damaged");
  }

  void check_version() const {
    const auto version = integer_attribute("Version", 2);
    if (version[0] != 1)
      throw DataError("it is of version " + std::to_string(version[0]) + "." +
                      std::to_string(version[1]) + " of VTKHDF; VTK 9.1 reads version 1.0");
  }

  std::vector<std::int64_t> integer_attribute(const std::string& name, hsize_t length) const {
    const Handle attribute(H5Aopen(group_, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute.good()) throw DataError("its group VTKHDF has no attribute '" + name + "'");
    const Handle space(H5Aget_space(attribute), H5Sclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(length) ||
        H5Tget_class(type) != H5T_INTEGER)
      throw damaged("its attribute '" + name + "' is not made of " + std::to_string(length) +
                    " integers");
    std::vector<std::int64_t> values(length);
    if (H5Aread(attribute, H5T_NATIVE_INT64, values.data()) < 0)
      throw damaged("its attribute '" + name + "' cannot be read");
    return values;
  }

  void require_doubles(const std::string& name, hsize_t length) const {
    const Handle attribute(H5Aopen(group_, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute.good()) throw DataError("its group VTKHDF has no attribute '" + name + "'");
    const Handle space(H5Aget_space(attribute), H5Sclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(length) ||
        (H5Tget_class(type) != H5T_FLOAT && H5Tget_class(type) != H5T_INTEGER))
      throw damaged("its attribute '" + name + "' is not made of " + std::to_string(length) +
                    " numbers");
  }

  std::string text_attribute(const std::string& name) const {
    const Handle attribute(H5Aopen(group_, name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute.good())
      throw DataError("its group VTKHDF has no attribute '" + name +
                      "', which says what kind of mesh it holds");
    const Handle type(H5Aget_type(attribute), H5Tclose);
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0)
      throw DataError("its attribute '" + name + "' is no text of fixed length, which VTK needs");
    const std::size_t size = H5Tget_size(type);
    if (size == 0 || size > 256) throw damaged("its attribute '" + name + "' has an absurd length");
    std::string text(size + 1, '\0');
    if (H5Aread(attribute, type, text.data()) < 0)
      throw damaged("its attribute '" + name + "' cannot be read");
    return text.c_str();
  }

  /// Shape of a data set whose values are all in the file.
  std::vector<hsize_t> shape_of(hid_t parent, const std::string& name) const {
    const Handle set(H5Dopen(parent, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.good()) throw DataError("it has no data set '" + name + "', or that is damaged");
    const Handle space(H5Dget_space(set), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 0)
      throw DataError("its data set '" + name +
                      "' is a single value, which VTK 9.1 cannot read; store it as a list of one");
    if (rank < 1 || rank > 4) throw damaged("its data set '" + name + "' has no proper shape");
    std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    const Handle type(H5Dget_type(set), H5Tclose);
    std::int64_t bytes = static_cast<std::int64_t>(H5Tget_size(type));
    for (const hsize_t size : shape) {
      if (size > INT64_MAX) throw damaged("its data set '" + name + "' has an absurd size");
      bytes = checked_product(bytes, static_cast<std::int64_t>(size));
    }
    const Handle properties(H5Dget_create_plist(set), H5Pclose);
    const bool filtered = H5Pget_nfilters(properties) > 0;
    const hsize_t stored = H5Dget_storage_size(set);
    // HDF5 fills in zeros for what was never written.
    if (stored > file_size_ || (!filtered && stored < static_cast<hsize_t>(bytes)) ||
        (filtered && bytes > 0 && (stored == 0 || static_cast<hsize_t>(bytes) / 20000 > stored)))
      throw damaged("its data set '" + name + "' holds " + std::to_string(stored) +
                    " bytes, expected " + std::to_string(bytes));
    return shape;
  }

  std::vector<std::int64_t> integers(const std::string& name) const {
    const auto shape = shape_of(group_, name);
    const Handle set(H5Dopen(group_, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(set), H5Tclose);
    if (shape.size() != 1 || H5Tget_class(type) != H5T_INTEGER)
      throw damaged("its data set '" + name + "' is no list of integers");
    std::vector<std::int64_t> values(shape[0]);
    if (H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      throw damaged("its data set '" + name + "' cannot be read");
    return values;
  }

  static std::int64_t total(const std::vector<std::int64_t>& counts, const std::string& name) {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts)
      if (count < 0 || __builtin_add_overflow(sum, count, &sum))
        throw damaged("its data set '" + name + "' holds an absurd number");
    return sum;
  }

  void inspect_image() {
    const auto extent = integer_attribute("WholeExtent", 6);
    require_doubles("Origin", 3);
    require_doubles("Spacing", 3);
    contents_.points = 1;
    contents_.cells = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t length = extent[2 * axis + 1] - extent[2 * axis] + 1;
      if (length < 1 || length > INT32_MAX || extent[2 * axis] < INT32_MIN)
        throw damaged("its WholeExtent is absurd");
      contents_.points = checked_product(contents_.points, length);
      contents_.cells = checked_product(contents_.cells, length > 1 ? length - 1 : 1);
    }
  }

  void inspect_grid() {
    const auto points = integers("NumberOfPoints");
    const auto cells = integers("NumberOfCells");
    const auto ids = integers("NumberOfConnectivityIds");
    if (points.size() != cells.size() || points.size() != ids.size())
      throw damaged("its lists of numbers per piece differ in length");
    contents_.points = total(points, "NumberOfPoints");
    contents_.cells = total(cells, "NumberOfCells");
    const auto shape = shape_of(group_, "Points");
    if (shape.size() != 2 || shape[1] != 3 || shape[0] != static_cast<hsize_t>(contents_.points))
      throw damaged("its Points are not made of " + std::to_string(contents_.points) + " x 3");
    const auto offsets = integers("Offsets");
    const auto connectivity = integers("Connectivity");
    const auto types = integers("Types");
    if (static_cast<std::int64_t>(connectivity.size()) != total(ids, "NumberOfConnectivityIds") ||
        static_cast<std::int64_t>(types.size()) != contents_.cells ||
        offsets.size() != types.size() + cells.size())
      throw damaged("its lists of cells have other lengths than declared");
    std::size_t first_offset = 0;
    std::size_t first_id = 0;
    std::size_t first_cell = 0;
    for (std::size_t piece = 0; piece < cells.size(); ++piece) {
      check_piece({offsets.begin() + static_cast<std::ptrdiff_t>(first_offset),
                   offsets.begin() + static_cast<std::ptrdiff_t>(first_offset) + cells[piece] + 1},
                  {connectivity.begin() + static_cast<std::ptrdiff_t>(first_id),
                   connectivity.begin() + static_cast<std::ptrdiff_t>(first_id) + ids[piece]},
                  types.data() + first_cell, points[piece]);
      first_offset += static_cast<std::size_t>(cells[piece]) + 1;
      first_id += static_cast<std::size_t>(ids[piece]);
      first_cell += static_cast<std::size_t>(cells[piece]);
    }
  }

  static void check_piece(std::vector<std::int64_t> offsets,
                          const std::vector<std::int64_t>& connectivity, const std::int64_t* types,
                          std::int64_t points) {
    if (offsets.front() != 0) throw damaged("its Offsets do not begin with 0");
    offsets.erase(offsets.begin());
    check_stored_ends(offsets, static_cast<std::int64_t>(connectivity.size()), "Offsets");
    std::int64_t begin = 0;
    for (std::size_t cell = 0; cell < offsets.size(); ++cell) {
      const auto number = static_cast<std::int64_t>(cell);
      check_stored_type(number, types[cell], offsets[cell] - begin);
      check_stored_ids(number, connectivity, begin, offsets[cell], points, "Connectivity");
      begin = offsets[cell];
    }
  }

  /// Names of the arrays in a group; `rows` < 0 where their length is free.
  std::vector<std::string> arrays_of(const std::string& group_name, std::int64_t rows) const {
    std::vector<std::string> names;
    if (H5Lexists(group_, group_name.c_str(), H5P_DEFAULT) <= 0) return names;
    const Handle group(H5Gopen(group_, group_name.c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t information{};
    if (!group.good() || H5Gget_info(group, &information) < 0)
      throw damaged("its group '" + group_name + "' cannot be read");
    for (hsize_t i = 0; i < information.nlinks; ++i) {
      std::array<char, 512> name{};
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(),
                             H5P_DEFAULT) < 0)
        throw damaged("its group '" + group_name + "' cannot be read");
      const std::string text = name.data();
      const auto shape = shape_of(group, text);
      check_kind(group, text, group_name);
      if (rows >= 0) check_rows(shape, rows, group_name + "/" + text);
      names.push_back(text);
    }
    return names;
  }

  /// VTK reads numbers, and in the field data text of one kind.
  static void check_kind(hid_t group, const std::string& name, const std::string& group_name) {
    const Handle set(H5Dopen(group, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(set), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT) return;
    const bool is_field = group_name == "FieldData";
    if (kind == H5T_STRING && is_field && H5Tis_variable_str(type) > 0 &&
        H5Tget_cset(type) == H5T_CSET_ASCII)
      return;
    const std::string holds = kind == H5T_STRING && is_field
                                  ? "text that is not of variable length in ASCII"
                              : kind == H5T_STRING ? "text"
                              : kind == H5T_ENUM   ? "booleans or other enumerated values"
                                                   : "values that are no plain numbers";
    throw DataError("its array '" + group_name + "/" + name + "' holds " + holds +
                    ", which VTK 9.1 cannot read; store it as " +
                    (kind == H5T_STRING && is_field ? "such text" : "numbers") + ", or remove it");
  }

  /// Images store their arrays with the axes z, y, x, grids in rows.
  void check_rows(const std::vector<hsize_t>& shape, std::int64_t rows,
                  const std::string& name) const {
    const bool image = contents_.type == "vtkImageData";
    const std::size_t axes = image ? std::min<std::size_t>(3, shape.size()) : 1;
    const hsize_t found =
        std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axes),
                        hsize_t{1}, std::multiplies<>());
    if (found != static_cast<hsize_t>(rows))
      throw damaged("its array '" + name + "' has " + std::to_string(found) + " rows, expected " +
                    std::to_string(rows));
  }

  hid_t group_;
  std::uint64_t file_size_;
  DeclaredContents contents_;
};

}  // namespace

DeclaredContents inspect_vtkhdf(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  const QuietHdf5 quiet;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.good())
    throw DataError("HDF5 cannot open it; it is cut short, damaged or no HDF5 file");
  const Handle group(H5Gopen(file, "VTKHDF", H5P_DEFAULT), H5Gclose);
  if (!group.good()) throw DataError("it has no group VTKHDF; it is no VTKHDF file");
  return VtkhdfInspector(group, bytes.size()).run();
}

}  // namespace funcattn
