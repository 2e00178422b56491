// Names out of files, made safe to print: an error message must not be able to move the cursor, forge a line or fill
// the screen.
#pragma once

#include <string>
#include <string_view>

namespace vitro {

/// `name` in single quotes; control bytes and bytes above 0x7e as \xNN, more than 96 bytes cut with "...".
std::string quote_name(std::string_view name);

}  // namespace vitro
