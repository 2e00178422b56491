#include "formats/llama2c.h"

#include <optional>
#include <string>

#include "base/checked_math.h"
#include "formats/bounded_reader.h"
#include "formats/tensor_table.h"

namespace vitro {
namespace {

constexpr int32_t kMaxLayers = 10'000;  ///< as check_config; bounds the table that a tiny width could ask for

struct Header {
  int32_t dim = 0;
  int32_t hidden_dim = 0;
  int32_t n_layers = 0;
  int32_t n_heads = 0;
  int32_t n_kv_heads = 0;
  int32_t vocab_size = 0;
  int32_t seq_len = 0;
  bool is_classifier_shared = true;

  int64_t head_size() const { return dim / n_heads; }
  int64_t kv_dim() const { return head_size() * n_kv_heads; }
};

Status check_header(const Header& h) {
  const bool is_positive = h.dim > 0 && h.hidden_dim > 0 && h.n_layers > 0 && h.n_heads > 0 && h.n_kv_heads > 0 &&
                           h.vocab_size > 0 && h.seq_len > 0;
  const bool is_sound = is_positive && h.n_layers <= kMaxLayers && h.dim % h.n_heads == 0 &&
                        h.n_heads % h.n_kv_heads == 0 && h.head_size() % 2 == 0;
  if (is_sound) return {};
  return fail(ErrorCode::kCorrupt,
              "the header is not that of a model: dim {}, hidden_dim {}, n_layers {}, n_heads {}, n_kv_heads {}, "
              "vocab_size {}, seq_len {}",
              h.dim, h.hidden_dim, h.n_layers, h.n_heads, h.n_kv_heads, h.vocab_size, h.seq_len);
}

Result<Header> read_header(BoundedReader& in) {
  Header h;
  for (int32_t* field : {&h.dim, &h.hidden_dim, &h.n_layers, &h.n_heads, &h.n_kv_heads, &h.vocab_size, &h.seq_len}) {
    VITRO_TRY_ASSIGN(*field, in.read<int32_t>("header"));
  }
  // A negative vocabulary says that output.weight is stored on its own. -2^31 has no positive twin; the check refuses
  // it.
  h.is_classifier_shared = h.vocab_size > 0;
  if (h.vocab_size < 0 && h.vocab_size != INT32_MIN) h.vocab_size = -h.vocab_size;
  VITRO_TRY(check_header(h));
  return h;
}

Value to_config(const Header& h) {
  const auto integer = [](const char* key, int64_t n) { return Value::Member{key, Value(n)}; };
  return Value(Value::Object{integer("dim", h.dim),
                             integer("hidden_dim", h.hidden_dim),
                             integer("n_layers", h.n_layers),
                             integer("n_heads", h.n_heads),
                             integer("n_kv_heads", h.n_kv_heads),
                             integer("vocab_size", h.vocab_size),
                             integer("seq_len", h.seq_len),
                             {"shared_classifier", Value(h.is_classifier_shared)}});
}

/// Walks the file's fixed order. Past 2^64 bytes `pos` becomes empty and stays so.
class Layout {
 public:
  Layout(WeightIndex& tensors, uint64_t pos) : tensors_(tensors), pos_(pos) {}

  void add(std::string name, Shape shape) {
    const auto n_bytes = checked_bytes(DType::kF32, shape);
    WeightEntry entry{std::move(name), DType::kF32, shape, pos_.value_or(0), 0, 0};
    advance(n_bytes);
    entry.end = pos_.value_or(0);
    tensors_.push_back(std::move(entry));
  }
  /// One tensor of each layer, stored as a block: "layers.{i}.<name>".
  void add_layers(int32_t n_layers, std::string_view name, const Shape& shape) {
    for (int32_t layer = 0; layer < n_layers; ++layer) add(fmt::format("layers.{}.{}", layer, name), shape);
  }
  void skip(const Shape& shape) { advance(checked_bytes(DType::kF32, shape)); }
  std::optional<uint64_t> pos() const { return pos_; }

 private:
  void advance(std::optional<int64_t> n_bytes) {
    pos_ = pos_ && n_bytes ? checked_add(*pos_, static_cast<uint64_t>(*n_bytes)) : std::nullopt;
  }

  WeightIndex& tensors_;
  std::optional<uint64_t> pos_;
};

/// llama2.c, run.c, memory_map_weights: the order of the file. Returns where it ends.
std::optional<uint64_t> list_tensors(const Header& h, uint64_t begin, WeightIndex& tensors) {
  const int64_t q_dim = h.head_size() * h.n_heads;
  Layout layout(tensors, begin);
  layout.add("tok_embeddings.weight", {h.vocab_size, h.dim});
  layout.add_layers(h.n_layers, "attention_norm.weight", {h.dim});
  layout.add_layers(h.n_layers, "attention.wq.weight", {q_dim, h.dim});
  layout.add_layers(h.n_layers, "attention.wk.weight", {h.kv_dim(), h.dim});
  layout.add_layers(h.n_layers, "attention.wv.weight", {h.kv_dim(), h.dim});
  layout.add_layers(h.n_layers, "attention.wo.weight", {h.dim, q_dim});
  layout.add_layers(h.n_layers, "ffn_norm.weight", {h.dim});
  layout.add_layers(h.n_layers, "feed_forward.w1.weight", {h.hidden_dim, h.dim});
  layout.add_layers(h.n_layers, "feed_forward.w2.weight", {h.dim, h.hidden_dim});
  layout.add_layers(h.n_layers, "feed_forward.w3.weight", {h.hidden_dim, h.dim});
  layout.add("norm.weight", {h.dim});
  layout.skip({2, h.seq_len, h.head_size() / 2});  // cosines, then sines, of the rotary angles
  if (!h.is_classifier_shared) layout.add("output.weight", {h.vocab_size, h.dim});
  return layout.pos();
}

Result<Llama2cFile> read_file(std::span<const std::byte> bytes) {
  BoundedReader in(bytes);
  VITRO_TRY_ASSIGN(const Header header, read_header(in));
  Llama2cFile file;
  const auto end = list_tensors(header, in.pos(), file.tensors);
  if (!end || *end != bytes.size()) {
    return fail(ErrorCode::kCorrupt,
                "a model of dim {}, {} layers, {} tokens takes {} bytes, the file has {}; is this a llama2.c file?",
                header.dim, header.n_layers, header.vocab_size, end ? std::to_string(*end) : "over 2^64", bytes.size());
  }
  file.config = to_config(header);
  VITRO_TRY(sort_by_name(file.tensors));
  return file;
}

}  // namespace

Result<Llama2cFile> read_llama2c(std::span<const std::byte> bytes, std::string_view where) {
  auto file = read_file(bytes);
  if (!file) return fail(file.error().in(fmt::format("[llama2.c] {}", where)));
  return file;
}

}  // namespace vitro
