// Where Vitro keeps what it can fetch or measure again: models and the measurement of this machine.
#pragma once

#include <filesystem>

namespace vitro {

/// VITRO_CACHE, else ~/.cache/vitro; without HOME that of the working folder.
std::filesystem::path cache_folder();

}  // namespace vitro
