// The text of data/devices.json; CMake writes its definition (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace vitro {

extern const std::string_view kDevicesJson;

}  // namespace vitro
