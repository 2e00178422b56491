#include "store/gguf_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/letters.h"

namespace vitro {
namespace {

bool is_digits(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

/// "x-00002-of-00003.gguf" -> {"x", 3}; of any other name {name, 1}.
std::pair<std::string, size_t> split_part(const std::string& path) {
  constexpr size_t kTail = std::string_view("-00002-of-00003.gguf").size();
  if (path.size() <= kTail) return {path, 1};
  const std::string_view tail = std::string_view(path).substr(path.size() - kTail);
  const bool is_part =
      tail[0] == '-' && is_digits(tail.substr(1, 5)) && tail.substr(6, 4) == "-of-" && is_digits(tail.substr(10, 5));
  if (!is_part) return {path, 1};
  return {path.substr(0, path.size() - kTail), std::stoul(std::string(tail.substr(10, 5)))};
}

bool has_word(std::string_view name, std::string_view part) {
  constexpr std::string_view kEnds = "-./";
  for (size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const bool begins = at == 0 || kEnds.find(name[at - 1]) != kEnds.npos;
    const size_t end = at + part.size();
    if (begins && (end == name.size() || kEnds.find(name[end]) != kEnds.npos)) return true;
  }
  return false;
}

}  // namespace

std::vector<GgufModel> gguf_models(std::span<const std::string> files) {
  std::map<std::pair<std::string, size_t>, GgufModel> models;
  for (const std::string& file : files) {
    if (!lower_case(file).ends_with(".gguf") || lower_case(file).find("mmproj") != std::string::npos) continue;
    const auto key = split_part(file);
    GgufModel& model = models[key];
    model.n_parts = key.second;
    model.parts.push_back(file);
  }
  std::vector<GgufModel> out;
  for (auto& [key, model] : models) {
    std::sort(model.parts.begin(), model.parts.end());
    model.name = model.parts.front();
    out.push_back(std::move(model));
  }
  return out;
}

std::vector<GgufModel> matching(std::span<const GgufModel> models, std::string_view part) {
  const std::string wanted = lower_case(part);
  std::vector<GgufModel> words, others;
  for (const GgufModel& model : models) {
    const std::string name = lower_case(model.name);
    if (has_word(name, wanted)) words.push_back(model);
    if (name.find(wanted) != name.npos) others.push_back(model);
  }
  return words.empty() || part.empty() ? others : words;
}

}  // namespace vitro
