# What meshio/ is made of, apart from any build: ParaView's plugin compiles the first part once more,
# against ParaView's own VTK.

# Meshes and what is computed of them; all that the stage needs.
set(FUNCATTN_MESH_SOURCES
  added_arrays.cpp array_view.cpp association_conversion.cpp cell_measure.cpp cells.cpp class_array.cpp
  data_set_check.cpp density.cpp field_data.cpp ghosts.cpp h1_seminorm.cpp joined_pieces.cpp large_pages.cpp
  measure_weights.cpp memory_need.cpp mesh.cpp mesh_tree.cpp probing.cpp quadrature.cpp
  refinement.cpp sampling.cpp shared_points.cpp solid_volumes.cpp structured_resampling.cpp
  subset.cpp vtk_messages.cpp)
set(FUNCATTN_MESH_HEADERS
  added_arrays.h array_view.h association_conversion.h class_array.h field_data.h h1_seminorm.h
  mesh.h mesh_tree.h probing.h quadrature.h refinement.h sampling.h structured_resampling.h subset.h)
set(FUNCATTN_MESH_VTK_COMPONENTS
  CommonCore CommonDataModel CommonExecutionModel FiltersCore FiltersGeneral FiltersGeometry
  FiltersModeling FiltersSources FiltersVerdict)

# Files: readers, writers, series.
set(FUNCATTN_MESH_FILE_SOURCES
  checked_read.cpp ensight_inspection.cpp exodus_inspection.cpp file_bytes.cpp formats.cpp
  inspection.cpp legacy_cursor.cpp legacy_format.cpp legacy_inspection.cpp memory_file.cpp
  multiblock_format.cpp netcdf_header.cpp number_word.cpp obj_reader.cpp obj_statements.cpp
  parallel_format.cpp parallel_index.cpp piece_folder.cpp piece_arrays.cpp piece_set.cpp
  ply_header.cpp ply_reader.cpp ply_values.cpp reader.cpp series.cpp signature.cpp
  solver_formats.cpp stl_inspection.cpp stl_reader.cpp surface_attributes.cpp text_lines.cpp
  trial.cpp vtkhdf_inspection.cpp write_checks.cpp write_preparation.cpp writer.cpp xml_arrays.cpp
  xml_blocks.cpp xml_extent.cpp xml_field_data.cpp xml_format.cpp xml_inspection.cpp xml_names.cpp
  xml_pieces.cpp xml_structure.cpp xml_tree.cpp)
set(FUNCATTN_MESH_FILE_HEADERS piece_set.h reader.h series.h writer.h)
set(FUNCATTN_MESH_FILE_VTK_COMPONENTS
  IOCore IOEnSight IOExodus IOGeometry IOHDF IOLegacy IOPLY IOXML IOXMLParser hdf5 loguru)
