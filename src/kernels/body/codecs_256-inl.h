// Codecs (body/decode-inl.h) of blocks of 256 columns: IQ4_XS, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K.

namespace vitro::VITRO_ISA_NS {
namespace {

template <>
struct Codec<DType::kIQ4_XS> : BlockCodec<1> {
  template <int kPhase>
  struct Run : LookupRun {
    VITRO_DECODE Run(const std::byte* panel, int64_t run)
        : LookupRun(words_at<DType::kIQ4_XS>(panel, run) + (1 + run % 8 * 4) * kWordBytes, step_at(panel, run),
                    kIq4Codes) {}
    static VITRO_DECODE F32x16 step_at(const std::byte* panel, int64_t run) {
      const auto idx = static_cast<int>(run % 8);
      const std::byte* high_pairs = block_at<DType::kIQ4_XS>(panel, run) + kHalfBytes;
      const I32x16 low = shift_right_logical(load_word(words_at<DType::kIQ4_XS>(panel, run)), 4 * idx);
      const I32x16 high = shift_right_logical(load_u16x16(high_pairs), 2 * idx);
      return mul(half_at<DType::kIQ4_XS>(panel, run), centred_scale<0>(bit_select(set1(0x0F), low, shifted<4>(high))));
    }
  };
};

/// Half a block of 256 columns: four runs, of which `first` is the first. (All four ask for it by that number, so that
/// compilers see that they read the same.)
template <DType kType>
struct HalfBlock {
  const std::byte* block;
  const std::byte* words;  ///< of the whole block
  int idx;                 ///< 0 or 1

  VITRO_DECODE HalfBlock(const std::byte* panel, int64_t first)
      : block(block_at<kType>(panel, first)),
        words(words_at<kType>(panel, first)),
        idx(static_cast<int>(first / 4 % 2)) {}
  /// Float16 number i of the block.
  template <int i>
  VITRO_DECODE F32x16 scale() const {
    return load_f16(block + i * kHalfBytes);
  }
};

/// Step and (negated) minimum of run number `run` of Q4_K and Q5_K, from two of the eight pairs of six-bit codes,
/// packed as dequantize.cc tells.
template <DType kType, int kPhase>
struct ScaleMin {
  F32x16 step, offset;

  VITRO_DECODE ScaleMin(const HalfBlock<kType>& half) {
    step = mul(half.template scale<0>(), code<0>(half));
    offset = sub(zero(), mul(half.template scale<1>(), code<1>(half)));
  }
  /// Scale (kind 0) or minimum (kind 1).
  template <int kKind>
  static VITRO_DECODE F32x16 code(const HalfBlock<kType>& half) {
    constexpr int kByteAt = 8 * kPhase;
    const I32x16 first = load_word(half.words + kKind * kWordBytes), last = load_word(half.words + 2 * kWordBytes);
    if (half.idx == 0) return field<kByteAt, 6>(first);
    return field<0, 6>(bit_select(set1(0x0F), shifted<-kByteAt - 4 * kKind>(last), shifted<-kByteAt - 2>(first)));
  }
};

template <>
struct Codec<DType::kQ4_K> : BlockCodec<4> {
  template <int kPhase>
  struct Run {
    const std::byte* words;  ///< even runs have the low nibbles, odd ones the high nibbles of the same words
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const HalfBlock<DType::kQ4_K> half(panel, run - kPhase);
      const ScaleMin<DType::kQ4_K, kPhase> pair(half);
      words = half.words + (3 + 16 * half.idx + kPhase / 2 * 8) * kWordBytes;
      steps = scaling<kPhase % 2 * 4>(pair.step, pair.offset);
    }
    template <int q>
    VITRO_DECODE I32x16 word() const {
      return load_word(words + q * kWordBytes);
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, (kPhase % 2 == 0 ? 0x0F : 0xF0)>(word, steps);
    }
  };
};

template <>
struct Codec<DType::kQ5_K> : BlockCodec<4> {
  template <int kPhase>
  struct Run {
    const std::byte* words;  ///< nibbles as Q4_K has them
    const std::byte* high_words;
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const HalfBlock<DType::kQ5_K> half(panel, run - kPhase);
      const ScaleMin<DType::kQ5_K, kPhase> pair(half);
      high_words = half.words + (3 + 4 * half.idx) * kWordBytes;
      words = half.words + (11 + 16 * half.idx + kPhase / 2 * 8) * kWordBytes;
      steps = scaling(pair.step, pair.offset);
    }
    /// Codes in bytes: nibbles and a high bit; bits above are masked away later.
    template <int q>
    VITRO_DECODE I32x16 word() const {
      const I32x16 low = load_word(words + q * kWordBytes), high = load_word(high_words + q % 4 * kWordBytes);
      constexpr int kHighBit = kPhase + q / 4 * 4;
      return bit_select(set1(0x0F0F0F0F), shifted<(kPhase % 2 == 0 ? 0 : -4)>(low), shifted<4 - kHighBit>(high));
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, 0x1F>(word, steps);
    }
  };
};

template <>
struct Codec<DType::kQ2_K> : BlockCodec<4> {
  template <int kPhase>  ///< also the number of the bit pair in the bytes of the words
  struct Run {
    const std::byte* words;
    Scaling steps[2];  ///< for columns 0-15 and 16-31

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const HalfBlock<DType::kQ2_K> half(panel, run - kPhase);
      const F32x16 d = half.scale<0>(), dmin = half.scale<1>();
      const I32x16 scales = load_word(half.words + (2 * half.idx + kPhase / 2) * kWordBytes);
      words = half.words + (4 + 8 * half.idx) * kWordBytes;
      unrolled<2>([&]<int i>() VITRO_LAMBDA {
        constexpr int kAt = kPhase % 2 * 16 + 8 * i;
        const F32x16 floor = mul(dmin, field<kAt + 4, 4>(scales));
        steps[i] = scaling<2 * kPhase>(mul(d, field<kAt, 4>(scales)), sub(zero(), floor));
      });
    }
    template <int q>
    VITRO_DECODE I32x16 word() const {
      return load_word(words + q * kWordBytes);
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, 3 << 2 * kPhase>(word, steps[q / 4]);
    }
  };
};

template <>
struct Codec<DType::kQ3_K> : BlockCodec<4> {
  template <int kPhase>  ///< also the number of the bit pair in the bytes of the low words
  struct Run {
    const std::byte* words;
    const std::byte* high_words;
    Scaling steps[2];  ///< for columns 0-15 and 16-31

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const HalfBlock<DType::kQ3_K> half(panel, run - kPhase);
      high_words = half.words + 4 * half.idx * kWordBytes;
      words = half.words + (8 + 8 * half.idx) * kWordBytes;
      const F32x16 d = half.scale<0>();
      const I32x16 scales = scales_of(half.words + 24 * kWordBytes, half.idx);
      unrolled<2>([&]<int i>() VITRO_LAMBDA {
        const F32x16 step = mul(d, centred_scale<kPhase % 2 * 16 + 8 * i>(scales));
        steps[i] = scaling(step, mul(step, set1(-4.0F)));
      });
    }
    /// Six-bit scales in bytes, packed as dequantize.cc tells: those of this run, and of the one before or after.
    static VITRO_DECODE I32x16 scales_of(const std::byte* packed, int half) {
      const I32x16 low = shift_right_logical(load_word(packed + kPhase / 2 * kWordBytes), 4 * half);
      const I32x16 high = shift_right_logical(load_word(packed + 2 * kWordBytes), 4 * half);
      return bit_select(set1(0x0F0F0F0F), low, shifted<4 - kPhase / 2 * 2>(high));
    }
    /// Codes in bytes: bit pairs and a high bit; bits above are masked away later.
    template <int q>
    VITRO_DECODE I32x16 word() const {
      const I32x16 low = load_word(words + q * kWordBytes), high = load_word(high_words + q % 4 * kWordBytes);
      constexpr int kHighBit = kPhase + q / 4 * 4;
      return bit_select(set1(0x03030303), shifted<-2 * kPhase>(low), shifted<2 - kHighBit>(high));
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, 0x07>(word, steps[q / 4]);
    }
  };
};

template <>
struct Codec<DType::kQ6_K> : BlockCodec<4> {
  template <int kPhase>  ///< also the number of the bit pair in the bytes of the high words
  struct Run {
    const std::byte* words;  ///< triples: two low words, one high word
    Scaling steps[2];        ///< for columns 0-15 and 16-31

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const HalfBlock<DType::kQ6_K> half(panel, run - kPhase);
      const F32x16 d = half.scale<0>();
      const I32x16 scales = load_word(half.words + (2 * half.idx + kPhase / 2) * kWordBytes);
      words = half.words + (4 + 24 * half.idx) * kWordBytes;
      steps[0] = scaling_of(d, shifted<24 - kPhase % 2 * 16>(scales));
      steps[1] = scaling_of(d, shifted<16 - kPhase % 2 * 16>(scales));
    }
    /// From d and an int8 scale in the top byte of each lane; the bits below are masked away.
    static VITRO_DECODE Scaling scaling_of(F32x16 d, I32x16 scale_on_top) {
      const F32x16 scale = mul(to_f32(and_(scale_on_top, set1(static_cast<int32_t>(0xFF000000)))), set1(0x1p-24F));
      const F32x16 step = mul(d, scale);
      return scaling(step, mul(step, set1(-32.0F)));
    }
    /// Codes in bytes: nibbles and a bit pair; bits above are masked away later.
    template <int q>
    VITRO_DECODE I32x16 word() const {
      const I32x16 low = load_word(words + (3 * q + kPhase % 2) * kWordBytes);
      const I32x16 high = load_word(words + (3 * q + 2) * kWordBytes);
      return bit_select(set1(0x0F0F0F0F), shifted<(kPhase < 2 ? 0 : -4)>(low), shifted<4 - 2 * kPhase>(high));
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      return byte_weight<c, 0x3F>(word, steps[q / 4]);
    }
  };
};

}  // namespace
}  // namespace vitro::VITRO_ISA_NS
