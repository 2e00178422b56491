#include "formats/protobuf.h"

#include <bit>

namespace vitro {

Status ProtoField::expect(Type wanted, std::string_view kind) const {
  if (type == wanted) return {};
  return fail(ErrorCode::kCorrupt, "field {} at offset {} has wire type {}, {} was expected", number, pos,
              static_cast<int>(type), kind);
}

Result<std::span<const std::byte>> ProtoField::message() const {
  VITRO_TRY(expect(Type::kBytes, "a message"));
  return bytes;
}

Result<std::string_view> ProtoField::text() const {
  VITRO_TRY(expect(Type::kBytes, "a string"));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<float> ProtoField::real() const {
  VITRO_TRY(expect(Type::kFixed32, "a float"));
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

Result<bool> ProtoField::boolean() const {
  VITRO_TRY(expect(Type::kVarint, "a bool"));
  return bits != 0;
}

Result<int32_t> ProtoField::integer() const {
  VITRO_TRY(expect(Type::kVarint, "an integer"));
  return static_cast<int32_t>(static_cast<uint32_t>(bits));
}

/// Seven bits a byte, the lowest first; ten bytes at most.
Result<uint64_t> ProtoReader::varint() {
  uint64_t out = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    VITRO_TRY_ASSIGN(const uint8_t byte, reader_.read<uint8_t>("a number"));
    out |= static_cast<uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return out;
  }
  return fail(ErrorCode::kCorrupt, "a number of more than ten bytes ends at offset {}", reader_.pos());
}

Status ProtoReader::read_value(uint64_t wire_type, ProtoField& out) {
  out.type = static_cast<ProtoField::Type>(wire_type);
  switch (wire_type) {
    case 0: {
      VITRO_TRY_ASSIGN(out.bits, varint());
      return {};
    }
    case 1: {
      VITRO_TRY_ASSIGN(out.bits, reader_.read<uint64_t>("a fixed64"));
      return {};
    }
    case 2: {
      VITRO_TRY_ASSIGN(const uint64_t n_bytes, varint());
      VITRO_TRY_ASSIGN(out.bytes, reader_.take(n_bytes, "a field"));
      return {};
    }
    case 5: {
      VITRO_TRY_ASSIGN(out.bits, reader_.read<uint32_t>("a fixed32"));
      return {};
    }
    case 3:
    case 4:
      return fail(ErrorCode::kUnsupported, "field {} at offset {} is a group", out.number, out.pos);
    default:
      return fail(ErrorCode::kCorrupt, "field {} at offset {} has the wire type {}", out.number, out.pos, wire_type);
  }
}

Result<std::optional<ProtoField>> ProtoReader::next() {
  if (reader_.remaining() == 0) return std::nullopt;
  ProtoField out;
  out.pos = reader_.pos();
  VITRO_TRY_ASSIGN(const uint64_t tag, varint());
  if (tag >> 32 != 0 || tag >> 3 == 0) {
    return fail(ErrorCode::kCorrupt, "the field at offset {} has the number {}", out.pos, tag >> 3);
  }
  out.number = static_cast<uint32_t>(tag >> 3);
  VITRO_TRY(read_value(tag & 7U, out));
  return out;
}

}  // namespace vitro
