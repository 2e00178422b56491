// VocabularyKeys: the keys of a GGUF file that describe its vocabulary, by their names below "tokenizer.ggml.".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/gguf.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/vocabulary.h"

namespace vitro {

/// Absent keys are null, keys of the wrong kind are errors.
class VocabularyKeys {
 public:
  explicit VocabularyKeys(const GgufFile& file) : file_(file) {}

  Result<const std::string_view*> string(std::string_view name) const {
    return get<std::string_view>(name, "a string");
  }
  Result<const int64_t*> integer(std::string_view name) const { return get<int64_t>(name, "an integer"); }
  Result<const bool*> boolean(std::string_view name) const { return get<bool>(name, "a bool"); }
  Result<const GgufArray*> array(std::string_view name) const { return get<GgufArray>(name, "an array"); }

  Result<const GgufArray*> strings(std::string_view name) const {
    VITRO_TRY_ASSIGN(const GgufArray* out, array(name));
    if (out == nullptr) return fail(ErrorCode::kCorrupt, "key 'tokenizer.ggml.{}' is missing", name);
    if (out->element != GgufType::kString) return wrong_kind(name, "an array of strings");
    return out;
  }
  Result<bool> flag(std::string_view name, bool missing) const {
    VITRO_TRY_ASSIGN(const bool* out, boolean(name));
    return out == nullptr ? missing : *out;
  }
  /// A token id; -1 where the key is missing and `missing` is no token either.
  Result<TokenId> token(std::string_view name, TokenId missing, const Vocabulary& vocabulary) const {
    VITRO_TRY_ASSIGN(const int64_t* id, integer(name));
    if (id == nullptr) return vocabulary.has(missing) ? missing : -1;
    if (*id < 0 || *id >= static_cast<int64_t>(vocabulary.size())) {
      return fail(ErrorCode::kCorrupt, "'tokenizer.ggml.{}' is {}, the vocabulary has {} entries", name, *id,
                  vocabulary.size());
    }
    return static_cast<TokenId>(*id);
  }

 private:
  static tl::unexpected<Error> wrong_kind(std::string_view name, std::string_view wanted) {
    return fail(ErrorCode::kCorrupt, "key 'tokenizer.ggml.{}' is not {}", name, wanted);
  }
  template <class T>
  Result<const T*> get(std::string_view name, std::string_view wanted) const {
    const GgufPair* pair = file_.find("tokenizer.ggml." + std::string(name));
    if (pair == nullptr) return nullptr;
    const T* value = std::get_if<T>(&pair->value);
    if (value == nullptr) return wrong_kind(name, wanted);
    return value;
  }
  const GgufFile& file_;
};

/// The model "bert" (load_wordpiece.cc); the vocabulary of `parts` is as the file has it.
Status add_gguf_wordpiece(const VocabularyKeys& keys, TokenizerParts& parts);

}  // namespace vitro
