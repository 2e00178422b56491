// What a model on the hub says of itself, without its weights: descriptions whole, of weight files their headers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "base/result.h"
#include "net/http.h"
#include "store/hub.h"
#include "store/names.h"

namespace vitro {

/// Fills an empty folder: JSON files as they are; of .safetensors and .gguf files the header, fetched by ranges, with a
/// hole behind it up to the file's length, so that whoever reads descriptions finds the files of the whole model (their
/// weights read as zeros, and take no room). Returns what to open: the folder, or a .gguf in it. Errors as list_repo,
/// choose_files and stat_hub_file; IoError for the disk; Unsupported for a server that does not give ranges;
/// Corrupt for one that gives others, and for headers longer than 256 MiB.
/// on_file, which may be empty, is told how many of the files are through.
Result<std::filesystem::path> fetch_headers(const HubName& name, const Hub& hub, const std::filesystem::path& folder,
                                            HttpConnection& connection,
                                            const std::function<void(size_t n_done, size_t n_total)>& on_file = {});

}  // namespace vitro
