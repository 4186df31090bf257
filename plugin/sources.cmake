# The stage. ParaView's plugin compiles it once more, against ParaView's own VTK.
set(FUNCATTN_STAGE_SOURCES
  binding.cpp class_prediction.cpp controller_group.cpp inspection.cpp parameters.cpp prediction.cpp stage.cpp stage_arrays.cpp stage_cache.cpp)
set(FUNCATTN_STAGE_VTK_COMPONENTS ParallelCore)
