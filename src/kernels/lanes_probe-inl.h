// For lanes_test.cc only: the functions of the lane type and exp behind plain pointers, compiled in the region that
// includes this.
namespace vitro::VITRO_ISA_NS {

static void probe_exp(const float* x, int64_t n, float* out) {
  for_each_vector(
      n, [=](int64_t i, int64_t n_lanes) { store_partial(exp(load_partial(x + i, n_lanes)), out + i, n_lanes); });
}

/// Sixteen values of 16 or 8 bits, widened.
static void probe_f16(const void* p, float* out) { store(load_f16(p), out); }
static void probe_bf16(const void* p, float* out) { store(load_bf16(p), out); }
static void probe_u16(const void* p, float* out) { store(to_f32(load_u16x16(p)), out); }
static void probe_u8(const void* p, float* out) { store(to_f32(load_u8x16(p)), out); }
static void probe_i8(const void* p, float* out) { store(to_f32(load_i8x16(p)), out); }
/// ((a << 3) + (a >> 5 as unsigned) - (a >> n)) & 0xFFFF | 1
static void probe_bits(const int32_t* p, int n, float* out) {
  const I32x16 a = load_i32(p);
  const I32x16 mixed = sub(add(shift_left<3>(a), shift_right_logical<5>(a)), shift_right_logical(a, n));
  store(to_f32(or_(and_(mixed, set1(0xFFFF)), set1(1))), out);
}

static void probe_copy(const float* p, int64_t n, float* out) { store(load_partial(p, n), out); }
static void probe_store(const float* p, int64_t n, float* out) { store_partial(load(p), out, n); }
static void probe_range(int64_t begin, int64_t end, float* out) {
  store(select(lane_range(begin, end), set1(1.0F), zero()), out);
}
static void probe_halves(const float* p, const float* q, float* out) { store(load_halves(p, q), out); }

static float probe_sum(const float* p) { return reduce_add(load(p)); }
static float probe_max(const float* p) { return reduce_max(load(p)); }
/// in[32] -> even[16], odd[16] -> back[32]
static void probe_pairs(const float* in, float* halves, float* back) {
  F32x16 even, odd, low, high;
  split_pairs(load(in), load(in + 16), even, odd);
  join_pairs(even, odd, low, high);
  store(even, halves);
  store(odd, halves + 16);
  store(low, back);
  store(high, back + 16);
}
/// out[i] = x[i] * 2^round(n[i])
static void probe_scale_by_power(const float* x, const float* n, float* out) {
  store(scale_by_power(load(x), round_to_i32(load(n))), out);
}

/// The low nibbles of the bytes of sixteen words looked up in a table of sixteen bytes.
static void probe_look_up(const uint8_t* table, const int32_t* words, float* out) {
  const I32x16 idx = and_(load_i32(words), set1(0x0F0F0F0F));
  store(as_f32(look_up_bytes(repeat_16_bytes(table), idx)), out);
}

static constexpr LaneProbe make_probe(const char* name) {
  return {name,      probe_exp,  probe_f16,   probe_bf16,           probe_u16,    probe_u8,
          probe_i8,  probe_bits, probe_copy,  probe_store,          probe_range,  probe_halves,
          probe_sum, probe_max,  probe_pairs, probe_scale_by_power, probe_look_up};
}

}  // namespace vitro::VITRO_ISA_NS
