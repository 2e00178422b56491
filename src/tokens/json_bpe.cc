// "model" of tokenizer.json of type BPE: merges and flags.
#include <algorithm>

#include "formats/json.h"
#include "formats/quote_name.h"
#include "tokens/json_components.h"
#include "tokens/json_reader.h"
#include "tokens/json_vocabulary.h"

namespace vitro {
namespace {

/// What is looked up of a merge.
struct MergeKeys {
  WordKey left;
  WordKey right;
  WordKey joined;
};

class MergeReader {
 public:
  /// The prefix of the right piece is left out where both are joined.
  MergeReader(const JsonMerges& merges, const Vocabulary& vocabulary, size_t n_prefix)
      : merges_(merges), vocabulary_(vocabulary), n_prefix_(n_prefix) {}

  /// Added from the last to the first, because of twins the reference keeps the last; read in order, to name the first
  /// fault. Look-ups are asked for some entries before they are needed: most miss the cache.
  Result<MergeTable> read() {
    if (merges_.size() > kMaxVocabulary)
      return fail(ErrorCode::kUnsupported, "model.merges: {} entries", merges_.size());
    std::vector<MergeTable::Merge> in_order;
    in_order.reserve(merges_.size());
    for (size_t i = 0; i < merges_.size(); ++i) {
      if (i % kBatch == 0) find_keys(i);
      VITRO_TRY_ASSIGN(const MergeTable::Merge merge, read_merge(i));
      in_order.push_back(merge);
    }
    MergeTable out(in_order.size());
    for (size_t i = in_order.size(); i-- > 0;) {
      if (i >= kBatch) out.prefetch(in_order[i - kBatch].left, in_order[i - kBatch].right);
      VITRO_TRY(out.add(in_order[i]));
    }
    return out;
  }

 private:
  static constexpr size_t kBatch = 16;

  std::string_view joined(const JsonMerges::Merge& merge) {
    if (n_prefix_ == 0) return merge.both;
    joined_ = std::string(merge.left) + std::string(merge.right.substr(std::min(n_prefix_, merge.right.size())));
    return joined_;
  }

  void find_keys(size_t begin) {
    keys_.clear();
    for (size_t i = begin; i < std::min(begin + kBatch, merges_.size()); ++i) {
      const JsonMerges::Merge merge = merges_[i];
      keys_.push_back({WordKey(merge.left), WordKey(merge.right), WordKey(joined(merge))});
      for (const WordKey& key : {keys_.back().left, keys_.back().right, keys_.back().joined}) vocabulary_.prefetch(key);
    }
  }

  Result<MergeTable::Merge> read_merge(size_t idx) {
    const JsonMerges::Merge merge = merges_[idx];
    const MergeKeys& keys = keys_[idx % kBatch];
    const std::string_view both = joined(merge);
    const MergeTable::Merge out{vocabulary_.find(merge.left, keys.left), vocabulary_.find(merge.right, keys.right),
                                merge.rank, vocabulary_.find(both, keys.joined)};
    if (out.left >= 0 && out.right >= 0 && out.joined >= 0) return out;
    const std::string_view missing = out.left < 0 ? merge.left : out.right < 0 ? merge.right : both;
    return fail(ErrorCode::kCorrupt, "model.merges[{}] needs the piece {}, which is not in the vocabulary", merge.rank,
                quote_name(missing));
  }

  const JsonMerges& merges_;
  const Vocabulary& vocabulary_;
  size_t n_prefix_;
  std::vector<MergeKeys> keys_;
  std::string joined_;
};

Status refuse_dropout(JsonReader& reader) {
  const Value* dropout = reader.optional("dropout");
  const bool is_off = dropout == nullptr || (dropout->as_real() != nullptr && *dropout->as_real() == 0) ||
                      (dropout->as_int() != nullptr && *dropout->as_int() == 0);
  return is_off ? Status() : reader.unsupported("dropout");
}

Result<BpeOptions> read_options(JsonReader& reader, const Vocabulary& vocabulary) {
  BpeOptions out{.alphabet = BpeAlphabet::kCharacters};
  VITRO_TRY(refuse_dropout(reader));
  VITRO_TRY_ASSIGN(out.continuing_prefix, reader.string_or("continuing_subword_prefix", ""));
  VITRO_TRY_ASSIGN(out.word_suffix, reader.string_or("end_of_word_suffix", ""));
  VITRO_TRY_ASSIGN(out.fuses_unknown, reader.boolean_or("fuse_unk", false));
  VITRO_TRY_ASSIGN(out.has_byte_fallback, reader.boolean_or("byte_fallback", false));
  VITRO_TRY_ASSIGN(out.takes_whole_words, reader.boolean_or("ignore_merges", false));
  VITRO_TRY_ASSIGN(const std::string unknown, reader.string_or("unk_token", ""));
  if (unknown.empty()) return out;
  out.unknown_id = vocabulary.find(unknown);
  if (out.unknown_id < 0) return reader.wrong("unk_token", "a piece of the vocabulary");
  return out;
}

}  // namespace

Status read_bpe_model(const Value& model, const JsonTables& tables, const Value* added, TokenizerParts& parts) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(model, "model"));
  reader.skip("type");
  const Value* vocab = reader.optional("vocab");
  if (vocab == nullptr) return reader.wrong("vocab", "an object");
  VITRO_TRY_ASSIGN(const std::vector<ModelPiece> pieces, read_piece_ids(*vocab, tables));
  BpeSpec spec;
  VITRO_TRY_ASSIGN(spec.is_added_only, read_vocabulary(pieces, added, parts));
  VITRO_TRY_ASSIGN(spec.options, read_options(reader, parts.vocabulary));
  if (spec.options.unknown_id >= 0) parts.vocabulary.set_kind(spec.options.unknown_id, TokenKind::kUnknown);
  VITRO_TRY(reader.array("merges"));
  const size_t n_prefix = spec.options.continuing_prefix.size();
  VITRO_TRY_ASSIGN(spec.merges, MergeReader(tables.merges, parts.vocabulary, n_prefix).read());
  parts.model = std::move(spec);
  return reader.finish();
}

}  // namespace vitro
