// Fields that are not named here are the trainer's own or newer than this reader; protobuf says to skip them.
#include "tokens/sentencepiece_model.h"

#include <array>
#include <cmath>
#include <functional>

#include "formats/protobuf.h"
#include "formats/quote_name.h"
#include "text/utf8.h"
#include "tokens/vocabulary.h"

namespace vitro {
namespace {

/// Calls read(field) for each field of a message; `where` names the message in errors.
Status each_field(std::span<const std::byte> message, std::string_view where,
                  const std::function<Status(const ProtoField&)>& read) {
  ProtoReader reader(message);
  while (true) {
    const auto field = reader.next();
    if (!field) return fail(field.error().in(where));
    if (!field->has_value()) return {};
    const Status status = read(**field);
    if (!status) return fail(status.error().in(where));
  }
}

Status read_piece_field(const ProtoField& field, SentencePieceModel::Piece& out) {
  if (field.number == 1) {
    VITRO_TRY_ASSIGN(out.text, field.text());
  } else if (field.number == 2) {
    VITRO_TRY_ASSIGN(out.score, field.real());
  } else if (field.number == 3) {
    VITRO_TRY_ASSIGN(const int32_t type, field.integer());
    const auto kind = sentencepiece_kind(type);
    if (!kind) return fail(ErrorCode::kUnsupported, "piece type {}, known are 1 to 6", type);
    out.kind = *kind;
  }
  return {};
}

Status read_piece(const ProtoField& field, SentencePieceModel& out) {
  if (out.pieces.size() >= kMaxVocabulary) return fail(ErrorCode::kUnsupported, "more than {} pieces", kMaxVocabulary);
  VITRO_TRY_ASSIGN(const auto message, field.message());
  SentencePieceModel::Piece piece;
  VITRO_TRY(each_field(message, "piece", [&](const ProtoField& f) { return read_piece_field(f, piece); }));
  out.pieces.push_back(piece);
  return {};
}

Status read_trainer_field(const ProtoField& field, SentencePieceModel& out) {
  switch (field.number) {
    case 3: {
      VITRO_TRY_ASSIGN(const int32_t type, field.integer());
      if (type < 1 || type > 4) return fail(ErrorCode::kUnsupported, "model type {}, known are 1 to 4", type);
      out.type = static_cast<SentencePieceModel::Type>(type);
      return {};
    }
    case 24: {
      VITRO_TRY_ASSIGN(out.has_space_suffix, field.boolean());
      return {};
    }
    case 35: {
      VITRO_TRY_ASSIGN(out.has_byte_fallback, field.boolean());
      return {};
    }
    case 44: {
      VITRO_TRY_ASSIGN(out.unknown_surface, field.text());
      return {};
    }
    case 46: {
      VITRO_TRY_ASSIGN(out.bos_piece, field.text());
      return {};
    }
    case 47: {
      VITRO_TRY_ASSIGN(out.eos_piece, field.text());
      return {};
    }
    default:
      return {};
  }
}

Status read_normalizer_field(const ProtoField& field, SentencePieceModel& out) {
  switch (field.number) {
    case 2: {
      VITRO_TRY_ASSIGN(out.charsmap, field.text());
      return {};
    }
    case 3: {
      VITRO_TRY_ASSIGN(out.adds_dummy_prefix, field.boolean());
      return {};
    }
    case 4: {
      VITRO_TRY_ASSIGN(out.removes_extra_spaces, field.boolean());
      return {};
    }
    case 5: {
      VITRO_TRY_ASSIGN(out.escapes_spaces, field.boolean());
      return {};
    }
    default:
      return {};
  }
}

Status refuse_denormalizer(const ProtoField& field) {
  if (field.number != 2) return {};
  VITRO_TRY_ASSIGN(const std::string_view charsmap, field.text());
  if (charsmap.empty()) return {};
  return fail(ErrorCode::kUnsupported, "rules for decoded text (precompiled_charsmap) are not supported");
}

Status read_model_field(const ProtoField& field, SentencePieceModel& out) {
  if (field.number == 1) return read_piece(field, out);
  if (field.number != 2 && field.number != 3 && field.number != 5) return {};
  VITRO_TRY_ASSIGN(const auto message, field.message());
  if (field.number == 2) {
    return each_field(message, "trainer_spec", [&](const ProtoField& f) { return read_trainer_field(f, out); });
  }
  if (field.number == 3) {
    return each_field(message, "normalizer_spec", [&](const ProtoField& f) { return read_normalizer_field(f, out); });
  }
  return each_field(message, "denormalizer_spec", refuse_denormalizer);
}

/// What the package checks when it loads a model, and that every piece is text and every score a number.
Status check_piece(const SentencePieceModel& model, TokenId id) {
  const SentencePieceModel::Piece& piece = model.pieces[static_cast<size_t>(id)];
  if (piece.text.empty()) return fail(ErrorCode::kCorrupt, "piece {} is empty", id);
  if (!is_valid_utf8(piece.text)) return fail(ErrorCode::kCorrupt, "piece {} is not UTF-8", id);
  if (!std::isfinite(piece.score)) return fail(ErrorCode::kCorrupt, "the score of piece {} is not a number", id);
  if (piece.kind == TokenKind::kUnknown && id != model.unknown_id) {
    return fail(ErrorCode::kCorrupt, "pieces {} and {} are both the unknown token", model.unknown_id, id);
  }
  if (piece.kind != TokenKind::kByte) return {};
  if (!model.has_byte_fallback) return fail(ErrorCode::kCorrupt, "piece {} is a byte, but byte_fallback is off", id);
  if (byte_token_value(piece.text) >= 0) return {};
  return fail(ErrorCode::kCorrupt, "byte piece {} is written {}, not <0x00> to <0xFF>", id, quote_name(piece.text));
}

Status check(SentencePieceModel& model) {
  std::array<bool, 256> has_byte{};
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    if (piece.kind == TokenKind::kUnknown && model.unknown_id < 0) model.unknown_id = static_cast<TokenId>(i);
    VITRO_TRY(check_piece(model, static_cast<TokenId>(i)));
    if (piece.kind == TokenKind::kByte) has_byte[static_cast<size_t>(byte_token_value(piece.text))] = true;
  }
  if (model.unknown_id < 0)
    return fail(ErrorCode::kCorrupt, "{} pieces, none is the unknown token", model.pieces.size());
  for (size_t byte = 0; model.has_byte_fallback && byte < 256; ++byte) {
    if (!has_byte[byte])
      return fail(ErrorCode::kCorrupt, "byte_fallback is on, but there is no piece <0x{:02X}>", byte);
  }
  return {};
}

}  // namespace

Result<SentencePieceModel> read_sentencepiece_model(std::span<const std::byte> bytes) {
  SentencePieceModel out;
  VITRO_TRY(each_field(bytes, "[sentencepiece]", [&](const ProtoField& f) { return read_model_field(f, out); }));
  const Status status = check(out);
  if (!status) return fail(status.error().in("[sentencepiece]"));
  return out;
}

}  // namespace vitro
