// The wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding): a message is a list of numbered
// fields. This reader hands them out one by one and knows nothing of any schema; bytes are hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/bounded_reader.h"

namespace vitro {

/// One field as it lies in the message.
struct ProtoField {
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t bits = 0;                 ///< kVarint, kFixed64, kFixed32
  std::span<const std::byte> bytes;  ///< kBytes: a string, bytes, or a message inside
  uint64_t pos = 0;                  ///< of its tag, counted from the start of the message

  /// The value as the schema's kind; Corrupt if the field is of another kind.
  Result<std::string_view> text() const;
  Result<std::span<const std::byte>> message() const;
  Result<float> real() const;
  Result<bool> boolean() const;
  /// An int32 or enum; the low 32 bits count, as protobuf says.
  Result<int32_t> integer() const;

 private:
  Status expect(Type wanted, std::string_view kind) const;
};

/// The fields of one message in order. Never allocates.
class ProtoReader {
 public:
  explicit ProtoReader(std::span<const std::byte> message) : reader_(message) {}
  /// Nothing at the end. Corrupt for what is no message; groups, which no schema uses any more, are Unsupported.
  Result<std::optional<ProtoField>> next();

 private:
  Result<uint64_t> varint();
  Status read_value(uint64_t wire_type, ProtoField& out);
  BoundedReader reader_;
};

}  // namespace vitro
