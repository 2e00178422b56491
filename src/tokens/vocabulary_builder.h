// VocabularyBuilder: entries by id while they are collected from the files of a folder: the model's own pieces, then
// added tokens, which keep, name or extend them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/tokenizer_settings.h"

namespace vitro {

class VocabularyBuilder {
 public:
  /// Corrupt: an id far beyond the number of entries, an id or a text that stands twice.
  Status add(std::string_view text, int64_t id, TokenKind kind = TokenKind::kNormal, float score = 0);
  size_t size() const { return entries_.size(); }
  /// Id of the entry, or -1.
  TokenId find(std::string_view text) const;

  /// Puts the added and special tokens of `settings` into the vocabulary, under new ids where it has them not, as
  /// transformers does, and all of it into `parts`.
  Status finish(const TokenizerSettings& settings, TokenizerParts& parts);

 private:
  struct Entry {
    std::string text;
    TokenKind kind = TokenKind::kUnused;
    float score = 0;
  };
  Status add_token(AddedToken token, TokenizerParts& parts);
  Result<Vocabulary> build() const;

  std::vector<Entry> entries_;
  std::unordered_map<std::string, TokenId> ids_;
};

}  // namespace vitro
