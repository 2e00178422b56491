// Columns of weight panels as float32 lanes (lane = row of the panel), as the gguf package de-quantises them. Layouts:
// tensor/quant_block.h.
//
// Every block format is w = step * code + offset where step * code is exact in float32 (at most 24 bits), so one fma
// gives what the package's product and sum give. A 32-bit word holds the codes of several columns of a row. A code is
// not shifted down: masked in place it is code * 2^pos, and its step is step * 2^-pos, exact too. So a column costs an
// and, a conversion and an fma. One shift brings the upper half of a word down, so two positions are enough: bits 0 and
// 8 (high nibbles: 4 and 12). A weight of zero may come out as +0 where the package has -0; no sum that started at +0
// can tell. Scales must be finite, as in every sound file.

namespace vitro::VITRO_ISA_NS {
namespace {

// Unrolled code is large, and with sanitizers larger: there it does without checks of every pointer for null (bounds
// are checked), and each unrolled run is a function of its own. Compilers would take minutes otherwise.
#define VITRO_LAMBDA __attribute__((always_inline, no_sanitize("undefined")))
#define VITRO_DECODE inline VITRO_LAMBDA
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VITRO_RUN __attribute__((noinline))
#else
#define VITRO_RUN VITRO_LANE
#endif

template <int... kIdx, class Fn>
VITRO_DECODE void unrolled(std::integer_sequence<int, kIdx...>, Fn fn) {
  (fn.template operator()<kIdx>(), ...);
}
/// fn.template operator()<i>() for i = 0 .. n - 1.
template <int n, class Fn>
VITRO_DECODE void unrolled(Fn fn) {
  unrolled(std::make_integer_sequence<int, n>(), fn);
}

VITRO_DECODE I32x16 load_word(const std::byte* p) { return load_i32(reinterpret_cast<const int32_t*>(p)); }

inline constexpr int64_t kHalfBytes = 2 * kPanelRows;  ///< sixteen float16
inline constexpr int64_t kWordBytes = 4 * kPanelRows;  ///< sixteen words

/// Shifted left by n, or right by -n.
template <int n>
VITRO_DECODE I32x16 shifted(I32x16 a) {
  if constexpr (n > 0) return shift_left<n>(a);
  if constexpr (n < 0) return shift_right_logical<-n>(a);
  return a;
}

/// How the codes of up to 32 columns become weights.
struct Scaling {
  F32x16 low;   ///< step for codes that begin at bit 0 (high nibbles: 4)
  F32x16 high;  ///< step for codes that begin at bit 8 (high nibbles: 12)
  F32x16 offset;
};
VITRO_DECODE Scaling scaling(F32x16 step, F32x16 offset, float at_low = 1) {
  return {mul(step, set1(at_low)), mul(step, set1(at_low * 0x1p-8F)), offset};
}

/// Byte c (0..3) of a word as a weight: of its bits those of `kMask`.
template <int c, int kMask>
VITRO_DECODE F32x16 byte_weight(I32x16 word, const Scaling& scaling) {
  const I32x16 half = c < 2 ? word : shift_right_logical<16>(word);
  const I32x16 code = and_(half, set1(int32_t{kMask} << (c % 2 * 8)));
  return fma(to_f32(code), c % 2 == 0 ? scaling.low : scaling.high, scaling.offset);
}

// A codec reads runs of kSumBlock columns. Runs whose numbers differ by kPhases have the same form; rows are whole
// groups of kPhases runs. Float types have just column(panel, k), others
//   Run<phase> r(panel, run)   reads the scales of run number `run`; phase = run % kPhases
//   r.word<q>()                the word that holds columns 4 q .. 4 q + 3 of the run
//   r.weight<q, c>(word)       column 4 q + c from it
template <DType kType>
struct Codec;

template <>
struct Codec<DType::kF32> {
  static constexpr bool kIsFloat = true;
  static constexpr int kPhases = 1;
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) {
    return load(reinterpret_cast<const float*>(panel) + k * kPanelRows);
  }
};
template <>
struct Codec<DType::kF16> {
  static constexpr bool kIsFloat = true;
  static constexpr int kPhases = 1;
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) { return load_f16(panel + k * kHalfBytes); }
};
template <>
struct Codec<DType::kBF16> {
  static constexpr bool kIsFloat = true;
  static constexpr int kPhases = 1;
  static VITRO_DECODE F32x16 column(const std::byte* panel, int64_t k) { return load_bf16(panel + k * kHalfBytes); }
};

template <>
struct Codec<DType::kQ8_0> {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = 1;
  template <int kPhase>
  struct Run {
    const std::byte* words;
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const std::byte* block = panel + run * (kHalfBytes + 8 * kWordBytes);
      const F32x16 d = load_f16(block);
      words = block + kHalfBytes;
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

template <>
struct Codec<DType::kQ4_1> {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = 1;
  template <int kPhase>
  struct Run {
    const std::byte* words;
    Scaling low_nibbles, high_nibbles;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const std::byte* block = panel + run * (2 * kHalfBytes + 4 * kWordBytes);
      const F32x16 d = load_f16(block), m = load_f16(block + kHalfBytes);
      words = block + 2 * kHalfBytes;
      low_nibbles = scaling(d, m);
      high_nibbles = scaling(d, m, 0x1p-4F);
    }
    template <int q>
    VITRO_DECODE I32x16 word() const {
      return load_word(words + q % 4 * kWordBytes);
    }
    template <int q, int c>
    VITRO_DECODE F32x16 weight(I32x16 word) const {
      if constexpr (q < 4) return byte_weight<c, 0x0F>(word, low_nibbles);
      return byte_weight<c, 0xF0>(word, high_nibbles);
    }
  };
};

template <>
struct Codec<DType::kQ5_0> {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = 1;
  template <int kPhase>
  struct Run {
    const std::byte* words;
    I32x16 high_bits;
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const std::byte* block = panel + run * (kHalfBytes + 5 * kWordBytes);
      const F32x16 d = load_f16(block);
      high_bits = load_word(block + kHalfBytes);
      words = block + kHalfBytes + kWordBytes;
      steps = scaling(d, mul(d, set1(-16.0F)));
    }
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
};

template <>
struct Codec<DType::kQ4_K> {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = 4;
  template <int kPhase>
  struct Run {
    const std::byte* words;  ///< even runs have the low nibbles, odd ones the high nibbles of the same words
    Scaling steps;

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const std::byte* block = panel + run / 8 * (2 * kHalfBytes + 35 * kWordBytes);
      const std::byte* packed = block + 2 * kHalfBytes;
      words = packed + (3 + run % 8 / 2 * 8) * kWordBytes;
      const bool is_first_half = run % 8 < 4;
      const F32x16 step = mul(load_f16(block), code<0>(packed, is_first_half));
      const F32x16 floor = mul(load_f16(block + kHalfBytes), code<1>(packed, is_first_half));
      steps = scaling(step, sub(zero(), floor), kPhase % 2 == 0 ? 1.0F : 0x1p-4F);
    }
    /// Scale (kind 0) or minimum (kind 1) of the run: one of the eight six-bit codes, packed as dequantize.cc tells.
    template <int kKind>
    static VITRO_DECODE F32x16 code(const std::byte* packed, bool is_first_half) {
      constexpr int kByteAt = 8 * kPhase;
      const I32x16 first = load_word(packed + kKind * kWordBytes), last = load_word(packed + 2 * kWordBytes);
      if (is_first_half) return to_f32(and_(shifted<-kByteAt>(first), set1(0x3F)));
      const I32x16 bits = bit_select(set1(0x0F), shifted<-kByteAt - 4 * kKind>(last), shifted<-kByteAt - 2>(first));
      return to_f32(and_(bits, set1(0x3F)));
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
struct Codec<DType::kQ6_K> {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = 4;
  template <int kPhase>  ///< also the number of the bit pair in the bytes of the high words
  struct Run {
    const std::byte* words;  ///< triples: two low words, one high word
    Scaling steps[2];        ///< for columns 0-15 and 16-31

    VITRO_DECODE Run(const std::byte* panel, int64_t run) {
      const std::byte* block = panel + run / 8 * (kHalfBytes + 52 * kWordBytes);
      const F32x16 d = load_f16(block);
      const I32x16 scales = load_word(block + kHalfBytes + run % 8 / 2 * kWordBytes);
      words = block + kHalfBytes + (4 + run % 8 / 4 * 24) * kWordBytes;
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

/// visit(k, b, w) for column k of each of kRuns runs, k in order: kRuns independent sums side by side hide the latency
/// of their fmas. The runs begin at number `run`, whose phase is kPhase. `width` columns each: kSumBlock,
/// or fewer in the last run of a float type. (With one run, `second` is `first` and costs nothing.)
template <DType kType, int kPhase, int kRuns, class Visit>
VITRO_DECODE void visit_runs(const std::byte* panel, int64_t run, int64_t width, Visit visit) {
  using C = Codec<kType>;
  static_assert(kRuns == 1 || (kRuns == 2 && !C::kIsFloat));
  if constexpr (C::kIsFloat) {
    for (int64_t k = 0; k < width; ++k) visit(k, 0, C::column(panel, run * kSumBlock + k));
  } else {
    const typename C::template Run<kPhase % C::kPhases> first(panel, run);
    const typename C::template Run<(kPhase + kRuns - 1) % C::kPhases> second(panel, run + kRuns - 1);
    unrolled<8>([&]<int q>() VITRO_LAMBDA {
      const I32x16 word0 = first.template word<q>(), word1 = second.template word<q>();
      unrolled<4>([&]<int c>() VITRO_LAMBDA {
        visit(4 * q + c, 0, first.template weight<q, c>(word0));
        if constexpr (kRuns == 2) visit(4 * q + c, 1, second.template weight<q, c>(word1));
      });
    });
  }
}

}  // namespace
}  // namespace vitro::VITRO_ISA_NS
