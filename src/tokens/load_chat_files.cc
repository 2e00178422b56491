#include "tokens/load_chat_files.h"

#include <algorithm>

#include "base/read_file.h"
#include "formats/gguf.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "tokens/tokenizer_settings.h"

namespace vitro {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTemplateBytes = size_t{16} << 20;

void set_token(ChatFiles& files, std::string_view key, Value value) {
  for (auto& [name, old] : files.special_tokens) {
    if (name != key) continue;
    old = std::move(value);
    return;
  }
  files.special_tokens.emplace_back(key, std::move(value));
}

void add_template(ChatFiles& files, std::string name, std::string source, std::string where) {
  for (ChatFiles::Named& old : files.templates) {
    if (old.name != name) continue;
    old = {std::move(name), std::move(source), std::move(where)};
    return;
  }
  files.templates.push_back({std::move(name), std::move(source), std::move(where)});
}

/// A token as these files write it: a string, or an object with its content.
const std::string* token_text(const Value& value) {
  if (const std::string* text = value.as_string()) return text;
  const Value* content = value.find("content");
  return content ? content->as_string() : nullptr;
}

/// Every member that names a token, and the list of additional ones.
void read_tokens(ChatFiles& files, const Value& json) {
  if (json.as_object() == nullptr) return;
  for (const auto& [key, value] : *json.as_object()) {
    if (key.ends_with("_token")) {
      if (const std::string* text = token_text(value)) set_token(files, key, Value(*text));
    }
    if (key != "additional_special_tokens" || value.as_array() == nullptr) continue;
    Value::Array tokens;
    for (const Value& token : *value.as_array()) {
      if (const std::string* text = token_text(token)) tokens.emplace_back(*text);
    }
    set_token(files, key, Value(std::move(tokens)));
  }
}

/// "chat_template": a text, or a list of {name, template}.
Status read_template_member(ChatFiles& files, const Value& json, const std::string& where) {
  const Value* member = json.find("chat_template");
  if (member == nullptr || member->is_null()) return {};
  if (const std::string* source = member->as_string()) {
    add_template(files, "default", *source, where + ": chat_template");
    return {};
  }
  if (member->as_array() == nullptr) {
    return fail(ErrorCode::kCorrupt, "{}: chat_template must be a text or a list of named texts, it is {}", where,
                member->kind_name());
  }
  for (const Value& item : *member->as_array()) {
    const Value* name = item.find("name");
    const Value* source = item.find("template");
    if (name == nullptr || source == nullptr || !name->as_string() || !source->as_string()) {
      return fail(ErrorCode::kCorrupt, "{}: an item of chat_template needs the texts name and template", where);
    }
    add_template(files, *name->as_string(), *source->as_string(), where + ": chat_template " + *name->as_string());
  }
  return {};
}

Result<Value> read_json_file(const fs::path& path) {
  VITRO_TRY_ASSIGN(const std::string text, read_small_file(path, kMaxSettingsBytes));
  return parse_json(text, path.string());
}

/// One JSON file: tokenizer_config.json, chat_template.json or special_tokens_map.json.
Status read_json_into(ChatFiles& files, const fs::path& path) {
  VITRO_TRY_ASSIGN(const Value json, read_json_file(path));
  read_tokens(files, json);
  return read_template_member(files, json, path.string());
}

Status read_jinja_into(ChatFiles& files, const fs::path& path, const std::string& name) {
  VITRO_TRY_ASSIGN(std::string source, read_small_file(path, kMaxTemplateBytes));
  add_template(files, name, std::move(source), path.string());
  return {};
}

Status read_additional(ChatFiles& files, const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".jinja") paths.push_back(it->path());
  }
  if (error) return fail(ErrorCode::kIoError, "{}: {}", folder.string(), error.message());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) VITRO_TRY(read_jinja_into(files, path, path.stem().string()));
  return {};
}

Result<ChatFiles> load_folder(const fs::path& folder) {
  ChatFiles files;
  // Later ones win, as transformers reads them: a file of its own before a member of the configuration.
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json", "chat_template.json"}) {
    if (fs::exists(folder / name)) VITRO_TRY(read_json_into(files, folder / name));
  }
  if (fs::exists(folder / "chat_template.jinja")) {
    VITRO_TRY(read_jinja_into(files, folder / "chat_template.jinja", "default"));
  }
  if (fs::is_directory(folder / "additional_chat_templates")) {
    VITRO_TRY(read_additional(files, folder / "additional_chat_templates"));
  }
  return files;
}

void read_gguf_tokens(ChatFiles& files, const GgufFile& gguf) {
  constexpr std::pair<std::string_view, std::string_view> kTokens[] = {
      {"bos_token_id", "bos_token"},       {"eos_token_id", "eos_token"},
      {"unknown_token_id", "unk_token"},   {"seperator_token_id", "sep_token"},  // spelt so in the files
      {"separator_token_id", "sep_token"}, {"padding_token_id", "pad_token"},
      {"cls_token_id", "cls_token"},       {"mask_token_id", "mask_token"}};
  const GgufArray* tokens = gguf.find_array("tokenizer.ggml.tokens");
  if (tokens == nullptr) return;
  for (const auto& [key, name] : kTokens) {
    const int64_t* id = gguf.find_int("tokenizer.ggml." + std::string(key));
    if (id == nullptr || *id < 0 || static_cast<uint64_t>(*id) >= tokens->strings.size()) continue;
    set_token(files, name, Value(std::string(tokens->strings[static_cast<size_t>(*id)])));
  }
}

Result<ChatFiles> load_gguf(const fs::path& path) {
  constexpr std::string_view kKey = "tokenizer.chat_template";
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  VITRO_TRY_ASSIGN(const GgufFile gguf, read_gguf(file.bytes(), path.string(), true));
  ChatFiles files;
  read_gguf_tokens(files, gguf);
  for (const GgufPair& pair : gguf.metadata) {
    const std::string_view* source = std::get_if<std::string_view>(&pair.value);
    const bool is_named = pair.key.starts_with("tokenizer.chat_template.");
    if (source == nullptr || (pair.key != kKey && !is_named)) continue;
    const std::string name = is_named ? std::string(pair.key.substr(kKey.size() + 1)) : "default";
    add_template(files, name, std::string(*source), path.string() + ": " + std::string(pair.key));
  }
  return files;
}

Result<ChatFiles> load_single(const fs::path& path) {
  ChatFiles files;
  if (path.extension() == ".json") {
    VITRO_TRY(read_json_into(files, path));
    return files;
  }
  VITRO_TRY(read_jinja_into(files, path, "default"));
  return files;
}

}  // namespace

Result<const ChatFiles::Named*> ChatFiles::choose(std::string_view name, bool has_tools) const {
  const auto find = [&](std::string_view wanted) -> const Named* {
    const auto it = std::find_if(templates.begin(), templates.end(), [&](const Named& t) { return t.name == wanted; });
    return it == templates.end() ? nullptr : &*it;
  };
  const Named* found = nullptr;
  if (!name.empty()) {
    found = find(name);
  } else {
    if (has_tools) found = find("tool_use");
    if (found == nullptr) found = find("default");
    if (found == nullptr && templates.size() == 1) found = &templates.front();
  }
  if (found != nullptr) return found;
  if (templates.empty()) {
    return fail(ErrorCode::kNotFound, "the model's files have no chat template; give one with --file");
  }
  std::string names;
  for (const Named& known : templates) names += (names.empty() ? "" : ", ") + known.name;
  return fail(ErrorCode::kNotFound, "no chat template named '{}'; there are: {}", name.empty() ? "default" : name,
              names);
}

Result<ChatFiles> load_chat_files(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return load_folder(path);
  VITRO_TRY_ASSIGN(const std::string magic, read_beginning(path, 4));
  return magic == "GGUF" ? load_gguf(path) : load_single(path);
}

}  // namespace vitro
