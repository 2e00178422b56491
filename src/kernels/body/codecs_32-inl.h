// Codecs (body/decode-inl.h) of float weights and of blocks of 32 columns: Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4.

namespace vitro::VITRO_ISA_NS {
namespace {

template <>
struct Codec<DType::kF32> : FloatCodec {
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) {
    return load(reinterpret_cast<const float*>(panel) + k * kPanelRows);
  }
};
template <>
struct Codec<DType::kF16> : FloatCodec {
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) { return load_f16(panel + k * kHalfBytes); }
};
template <>
struct Codec<DType::kBF16> : FloatCodec {
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) { return load_bf16(panel + k * kHalfBytes); }
};

template <>
struct Codec<DType::kQ8_0> : BlockCodec<1> {
  template <int kPhase>
  struct Run {
    const std::byte* words;
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const F32x16 d = half_at<DType::kQ8_0>(panel, run);
      words = words_at<DType::kQ8_0>(panel, run);
      steps = scaling(d, mul(d, set1(-128.0F)));
    }
    template <int q>
    VITRO_DECODE I32x16 word() const {
      return load_word(words + q * kWordBytes);
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, 0xFF>(word, steps);
    }
  };
};

/// Q4_0 and Q4_1: four words whose low nibbles are columns 0-15, whose high nibbles are columns 16-31. (Those are
/// shifted down, so that both have the same steps: registers are scarcer than shifts.)
struct NibbleRun {
  const std::byte* words;
  Scaling steps;

  VITRO_DECODE NibbleRun(const std::byte* words_in, F32x16 d, F32x16 offset)
      : words(words_in), steps(scaling(d, offset)) {}
  template <int q>
  VITRO_DECODE I32x16 word() const {
    return shifted<(q < 4 ? 0 : -4)>(load_word(words + q % 4 * kWordBytes));
  }
  template <int q, int c>
  VITRO_DECODE F32x16 weight(I32x16 word) const {
    return byte_weight<c, 0x0F>(word, steps);
  }
};

template <>
struct Codec<DType::kQ4_0> : BlockCodec<1> {
  template <int kPhase>
  struct Run : NibbleRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : Run(words_at<DType::kQ4_0>(panel, run), half_at<DType::kQ4_0>(panel, run)) {}
    VITRO_DECODE Run(const std::byte* words_in, F32x16 d) : NibbleRun(words_in, d, mul(d, set1(-8.0F))) {}
  };
};
template <>
struct Codec<DType::kQ4_1> : BlockCodec<1> {
  template <int kPhase>
  struct Run : NibbleRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : NibbleRun(words_at<DType::kQ4_1>(panel, run), half_at<DType::kQ4_1>(panel, run),
                    half_at<DType::kQ4_1, 1>(panel, run)) {}
  };
};

/// Q5_0 and Q5_1: the word of high bits, then nibbles as NibbleRun has them.
struct FiveBitRun {
  const std::byte* words;
  I32x16 high_bits;
  Scaling steps;

  VITRO_DECODE FiveBitRun(const std::byte* words_in, F32x16 d, F32x16 offset)
      : words(words_in + kWordBytes), high_bits(load_word(words_in)), steps(scaling(d, offset)) {}
  /// Codes in bytes: nibbles, and bit q of each byte of high_bits as bit 4; bits above are masked away later.
  template <int q>
  VITRO_DECODE I32x16 word() const {
    const I32x16 nibbles = load_word(words + q % 4 * kWordBytes);
    return bit_select(set1(0x0F0F0F0F), shifted<(q < 4 ? 0 : -4)>(nibbles), shifted<4 - q>(high_bits));
  }
  template <int q, int c>
  VITRO_DECODE F32x16 weight(I32x16 word) const {
    return byte_weight<c, 0x1F>(word, steps);
  }
};

template <>
struct Codec<DType::kQ5_0> : BlockCodec<1> {
  template <int kPhase>
  struct Run : FiveBitRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : Run(words_at<DType::kQ5_0>(panel, run), half_at<DType::kQ5_0>(panel, run)) {}
    VITRO_DECODE Run(const std::byte* words_in, F32x16 d) : FiveBitRun(words_in, d, mul(d, set1(-16.0F))) {}
  };
};
template <>
struct Codec<DType::kQ5_1> : BlockCodec<1> {
  template <int kPhase>
  struct Run : FiveBitRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : FiveBitRun(words_at<DType::kQ5_1>(panel, run), half_at<DType::kQ5_1>(panel, run),
                     half_at<DType::kQ5_1, 1>(panel, run)) {}
  };
};

/// The values of a table as codes: plus a bias, so that none is negative.
struct CodeTable {
  int bias = 0;
  uint8_t codes[16] = {};
};
constexpr CodeTable code_table(const int8_t (&values)[16]) {
  CodeTable table;
  for (const int8_t value : values) table.bias = value < -table.bias ? -value : table.bias;
  for (int i = 0; i < 16; ++i) table.codes[i] = static_cast<uint8_t>(values[i] + table.bias);
  return table;
}
inline constexpr CodeTable kIq4Codes = code_table(kIq4Values);
inline constexpr CodeTable kE2m1Codes = code_table(kE2m1Values);

/// IQ4_NL, IQ4_XS and MXFP4: nibbles as NibbleRun has them, which stand for values of a table.
struct LookupRun {
  const std::byte* words;
  I32x16 codes;
  Scaling steps;

  VITRO_DECODE LookupRun(const std::byte* words_in, F32x16 step, const CodeTable& table)
      : words(words_in),
        codes(repeat_16_bytes(table.codes)),
        steps(scaling(step, mul(step, set1(static_cast<float>(-table.bias))))) {}
  template <int q>
  VITRO_DECODE I32x16 word() const {
    const I32x16 nibbles = shifted<(q < 4 ? 0 : -4)>(load_word(words + q % 4 * kWordBytes));
    return look_up_bytes(codes, and_(nibbles, set1(0x0F0F0F0F)));
  }
  template <int q, int c>
  VITRO_DECODE F32x16 weight(I32x16 word) const {
    return byte_weight<c, 0xFF>(word, steps);
  }
};

template <>
struct Codec<DType::kIQ4_NL> : BlockCodec<1> {
  template <int kPhase>
  struct Run : LookupRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : LookupRun(words_at<DType::kIQ4_NL>(panel, run), half_at<DType::kIQ4_NL>(panel, run), kIq4Codes) {}
  };
};
template <>
struct Codec<DType::kMXFP4> : BlockCodec<1> {
  template <int kPhase>
  struct Run : LookupRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : LookupRun(words_at<DType::kMXFP4>(panel, run), step_at(block_at<DType::kMXFP4>(panel, run)), kE2m1Codes) {}
    /// 2^(e - 128)
    static VITRO_DECODE F32x16 step_at(const std::byte* exponents) {
      return scale_by_power(set1(1.0F), sub(load_u8x16(exponents), set1(128)));
    }
  };
};
}  // namespace
}  // namespace vitro::VITRO_ISA_NS
