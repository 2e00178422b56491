#pragma once
#include <filesystem>
#include "text/chat_template.h"
namespace vitro { Result<ChatFiles> load_chat_files(const std::filesystem::path& path); }
