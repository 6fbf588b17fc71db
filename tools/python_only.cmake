# CMake includes this file after project() of each package that tools/setup builds with ROS from PyPI. It limits interface
# packages to the six of ten generators that Python needs, and compiles in unity builds. This halves the build time.
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# Only for these targets: the type descriptions, in the target of generator_c, do not compile in a unity build.
function(compile_in_one_piece)
  foreach(part generator_py typesupport_c typesupport_fastrtps_c typesupport_introspection_c)
    if(TARGET ${PROJECT_NAME}__rosidl_${part})
      set_target_properties(${PROJECT_NAME}__rosidl_${part} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL compile_in_one_piece)
