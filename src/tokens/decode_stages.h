// The machines behind the steps of decoder.h. A piece comes as one or several chunks of bytes, the last of which ends
// it. Every stage keeps only what it cannot yet decide.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/split_pattern.h"
#include "tokens/decoder.h"

namespace vitro {

/// The byte that a piece such as "<0x0A>" stands for, as the reference reads it; -1 for others.
int decoded_byte(std::string_view piece);

class DecodeStage {
 public:
  struct Chunk {
    std::string_view bytes;
    bool ends_piece = true;
    bool is_verbatim = false;  ///< the same for all chunks of a piece
  };
  virtual ~DecodeStage() = default;
  virtual void feed(const Chunk& chunk) = 0;
  /// No more pieces.
  virtual void finish() { next_->finish(); }
  void set_next(DecodeStage* next) { next_ = next; }

 protected:
  void send(const Chunk& chunk) { next_->feed(chunk); }
  void send_piece(std::string_view bytes) { next_->feed({bytes, true, false}); }
  void send_part(std::string_view bytes) {
    if (!bytes.empty()) next_->feed({bytes, false, false});
  }
  DecodeStage* next_ = nullptr;
};

/// The end of the chain.
class OutputStage final : public DecodeStage {
 public:
  explicit OutputStage(std::string** out) : out_(out) {}
  void feed(const Chunk& chunk) override { (*out_)->append(chunk.bytes); }
  void finish() override {}

 private:
  std::string** out_;
};

/// Whole characters only; broken bytes become U+FFFD (maximal parts, as text/utf8.h). All pieces become one.
class Utf8Stage final : public DecodeStage {
 public:
  void feed(const Chunk& chunk) override;
  void finish() override;

 private:
  void send_whole(std::string_view bytes);
  std::string pending_;
};

class FuseStage final : public DecodeStage {
 public:
  void feed(const Chunk& chunk) override { send_part(chunk.bytes); }
  void finish() override {
    send_piece({});
    next_->finish();
  }
};

/// Collects the chunks of a piece for stages that must see it whole.
class WholePieceStage : public DecodeStage {
 public:
  void feed(const Chunk& chunk) final;

 protected:
  virtual void take(const Chunk& piece) = 0;

 private:
  std::string pending_;
};

class ByteLevelStage final : public WholePieceStage {
 protected:
  void take(const Chunk& piece) override;

 private:
  std::string bytes_;
};

/// keeps_bytes: bytes go on as they are.
class ByteFallbackStage final : public WholePieceStage {
 public:
  ByteFallbackStage(bool takes_whole_runs, bool keeps_bytes)
      : takes_whole_runs_(takes_whole_runs), keeps_bytes_(keeps_bytes) {}
  void finish() override;

 protected:
  void take(const Chunk& piece) override;

 private:
  void add_to_run(char byte);
  void add_single(char byte);
  void break_run();
  void end_run();

  bool takes_whole_runs_;
  bool keeps_bytes_;
  std::string run_;         ///< bytes that are not sent yet
  size_t n_whole_ = 0;      ///< those of whole characters
  bool is_broken_ = false;  ///< the run is not UTF-8
};

class StripStage final : public DecodeStage {
 public:
  StripStage(std::string content, size_t n_start, size_t n_end, bool is_first)
      : content_(std::move(content)), n_start_(n_start), n_end_(n_end), n_start_left_(is_first ? n_start : 0) {}
  void feed(const Chunk& chunk) override;

 private:
  std::string content_;
  size_t n_start_;
  size_t n_end_;
  size_t n_start_left_;  ///< that this piece may still lose at its start
  size_t n_held_ = 0;    ///< contents at the end so far, not sent
};

class ReplaceStage final : public DecodeStage {
 public:
  ReplaceStage(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void feed(const Chunk& chunk) override;

 private:
  size_t n_beginning(std::string_view rest) const;
  std::string pattern_;
  std::string content_;
  std::string held_;  ///< the beginning of an occurrence
  std::string joined_;
};

class RegexReplaceStage final : public WholePieceStage {
 public:
  RegexReplaceStage(const SplitPattern& pattern, std::string_view content) : pattern_(&pattern), content_(content) {}

 protected:
  void take(const Chunk& piece) override;

 private:
  const SplitPattern* pattern_;
  std::string_view content_;
};

class MetaspaceStage final : public DecodeStage {
 public:
  MetaspaceStage(std::string_view mark, bool drops_first, bool is_first)
      : mark_(mark), drops_(drops_first && is_first) {}
  void feed(const Chunk& chunk) override;

 private:
  std::string_view mark_;
  bool drops_;  ///< in the piece that is being read
};

class SentencePieceStage final : public WholePieceStage {
 public:
  using Leading = SentencePieceDecode::Leading;
  SentencePieceStage(std::string_view mark, Leading leading, bool is_first)
      : mark_(mark), leading_(leading), is_start_(is_first && leading != Leading::kKeep) {}

 protected:
  void take(const Chunk& piece) override;

 private:
  std::string_view mark_;
  Leading leading_;
  bool is_start_;           ///< a leading mark is nothing
  bool has_begun_ = false;  ///< after this piece none is
};

/// A space before each piece but the first; with a prefix, those that begin with it lose it instead.
class SpacesStage final : public WholePieceStage {
 public:
  SpacesStage(std::optional<std::string> prefix, bool is_first) : prefix_(std::move(prefix)), is_first_(is_first) {}

 protected:
  void take(const Chunk& piece) override;

 private:
  std::optional<std::string> prefix_;
  bool is_first_;
};

/// last_is_open: the last piece gets its spaces too.
class SuffixStage final : public WholePieceStage {
 public:
  SuffixStage(std::string_view suffix, bool last_is_open) : suffix_(suffix), last_is_open_(last_is_open) {}
  void finish() override;

 protected:
  void take(const Chunk& piece) override;

 private:
  void send_held(std::string_view replacement);
  std::string_view suffix_;
  bool last_is_open_;
  std::string held_;  ///< the last piece, if it has a suffix
};

class DedupStage final : public WholePieceStage {
 protected:
  void take(const Chunk& piece) override;

 private:
  std::optional<std::string> last_;
};

class DropEmptyStage final : public DecodeStage {
 public:
  void feed(const Chunk& chunk) override;

 private:
  bool has_bytes_ = false;
};

}  // namespace vitro
