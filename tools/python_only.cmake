# Included after project() of each package that tools/setup builds with ROS from PyPI: of an interface package only what
# Python needs is generated, six of ten parts, and each part is compiled in one piece. This takes half the time.
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# Target by target: the descriptions of types, in a library of their own, do not compile in one piece.
function(compile_in_one_piece)
  foreach(part generator_py typesupport_c typesupport_fastrtps_c typesupport_introspection_c)
    if(TARGET ${PROJECT_NAME}__rosidl_${part})
      set_target_properties(${PROJECT_NAME}__rosidl_${part} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL compile_in_one_piece)
