// Columns of weight panels as float32 lanes (lane = row of the panel), as the gguf package de-quantises them. Layouts:
// tensor/quant_block.h.
//
// Every block format is w = step * code + offset where step * code is exact in float32 (at most 24 bits), so one fma
// gives what the package's product and sum give. (Codes that stand for values of a table are looked up first, as value
// plus a bias: then code is that sum.) A 32-bit word holds the codes of several columns of a row. A code is not shifted
// down: masked in place it is code * 2^pos, and its step is step * 2^-pos, exact too. So a column costs an and, a
// conversion and an fma. One shift brings the upper half of a word down, so two positions are enough: bits 0 and 8. A
// weight of zero may come out as +0 where the package has -0; no sum that started at +0 can tell. Scales must be
// finite, those of MXFP4 below 2^124 (so that 24 times the scale is finite), as in every sound file.

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
  F32x16 low;   ///< step for codes in bytes 0 and 2 of a word
  F32x16 high;  ///< step for codes in bytes 1 and 3
  F32x16 offset;
};
/// Codes begin at bit kAt of their bytes.
template <int kAt = 0>
VITRO_DECODE Scaling scaling(F32x16 step, F32x16 offset) {
  return {kAt == 0 ? step : mul(step, set1(1.0F / (1 << kAt))), mul(step, set1(1.0F / (256 << kAt))), offset};
}

/// Byte c (0..3) of a word as a weight: of its bits those of `kMask`.
template <int c, int kMask>
VITRO_DECODE F32x16 byte_weight(I32x16 word, const Scaling& scaling) {
  const I32x16 half = c < 2 ? word : shift_right_logical<16>(word);
  const I32x16 code = and_(half, set1(int32_t{kMask} << (c % 2 * 8)));
  return fma(to_f32(code), c % 2 == 0 ? scaling.low : scaling.high, scaling.offset);
}

/// Where the panel block that holds run number `run` begins, and where its words do.
template <DType kType>
VITRO_DECODE const std::byte* block_at(const std::byte* panel, int64_t run) {
  constexpr BlockLayout kLayout = block_layout(kType);
  return panel + run / (kLayout.columns / kSumBlock) * (kPanelRows * kLayout.bytes());
}
template <DType kType>
VITRO_DECODE const std::byte* words_at(const std::byte* panel, int64_t run) {
  constexpr BlockLayout kLayout = block_layout(kType);
  return block_at<kType>(panel, run) + kPanelRows * (kLayout.n_exponents + 2 * kLayout.n_halves);
}
/// Float16 number `idx` of that block.
template <DType kType, int idx = 0>
VITRO_DECODE F32x16 half_at(const std::byte* panel, int64_t run) {
  return load_f16(block_at<kType>(panel, run) + idx * kHalfBytes);
}
/// Bits at .. at + n_bits - 1 of each lane as a number.
template <int at, int n_bits>
VITRO_DECODE F32x16 field(I32x16 word) {
  return to_f32(and_(shifted<-at>(word), set1((1 << n_bits) - 1)));
}
/// The same of a six-bit scale that is stored with 32 added.
template <int at>
VITRO_DECODE F32x16 centred_scale(I32x16 word) {
  return sub(field<at, 6>(word), set1(32.0F));
}

// A codec reads runs of kSumBlock columns. Runs whose numbers differ by kPhases have the same form; rows are whole
// groups of kPhases runs. Float types have just column(panel, k), others
//   Run<phase> r(panel, run)   reads the scales of run number `run`; phase = run % kPhases
//   r.word<q>()                the word that holds columns 4 q .. 4 q + 3 of the run
//   r.weight<q, c>(word)       column 4 q + c from it
struct FloatCodec {
  static constexpr bool kIsFloat = true;
  static constexpr int kPhases = 1;
};
template <int n_phases>
struct BlockCodec {
  static constexpr bool kIsFloat = false;
  static constexpr int kPhases = n_phases;
};
template <DType kType>
struct Codec;

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
