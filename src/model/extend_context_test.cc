// Extending a context by the user's choice must give what a file that asks for the same would give; and it refuses what
// cannot be stretched.
#include "model/extend_context.h"

#include <gtest/gtest.h>

#include <limits>

#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;

/// Four layers of 16 rotated values a head, trained at 128 tokens.
ModelConfig model() {
  BlockSpec block;
  block.norm = {.kind = NormKind::kRms, .eps = 1e-6};
  block.attn = {.n_head = 4,
                .n_kv_head = 2,
                .d_head = 16,
                .d_head_v = 16,
                .scale = 0.25,
                .position = PositionKind::kRope,
                .rope = {.d_rot = 16, .theta = 5000.0}};
  block.ffn = {.d_ff = 112};
  ModelConfig config{.d_model = 64, .vocab_size = 384, .n_ctx = 128};
  config.blocks.assign(4, block);
  config.final_norm = block.norm;
  return config;
}

ModelConfig extended(ModelConfig config, RopeScaling kind, double factor) {
  const Status status = extend_context(&config, kind, factor);
  EXPECT_TRUE(status) << status.error().message;
  return config;
}

TEST(ExtendContextTest, DescribesWhatAFileWouldAskFor) {
  for (const RopeScaling kind : {RopeScaling::kLinear, RopeScaling::kNtk, RopeScaling::kDynamic, RopeScaling::kYarn}) {
    const ModelConfig config = extended(model(), kind, 2.5);
    EXPECT_EQ(config.n_ctx, 320);
    for (const BlockSpec& block : config.blocks) {
      EXPECT_EQ(block.attn.rope,
                (RopeSpec{.d_rot = 16, .theta = 5000.0, .scaling = kind, .factor = 2.5, .n_ctx_original = 128}));
    }
    EXPECT_TRUE(check_runnable(config));
  }
  EXPECT_EQ(extended(model(), RopeScaling::kLinear, 1.01).n_ctx, 129);
}

TEST(ExtendContextTest, ShortWindowsKeepTheirRotationBesideFullLayers) {
  ModelConfig mixed = model();
  for (const size_t i : {0u, 1u}) {
    mixed.blocks[i].attn.mask = MaskKind::kWindow;
    mixed.blocks[i].attn.window = i == 0 ? 8 : 128;
  }
  mixed.blocks[2].attn.position = PositionKind::kNone;
  const ModelConfig config = extended(mixed, RopeScaling::kYarn, 4);
  EXPECT_EQ(config.blocks[0], mixed.blocks[0]);
  EXPECT_EQ(config.blocks[1].attn.rope.factor, 4.0);  // its window holds the whole trained length
  EXPECT_EQ(config.blocks[2], mixed.blocks[2]);
  EXPECT_EQ(config.blocks[3].attn.rope.factor, 4.0);
}

TEST(ExtendContextTest, AModelOfWindowsOnlyIsStretchedAsAWhole) {
  ModelConfig windows = model();
  for (BlockSpec& block : windows.blocks) {
    block.attn.mask = MaskKind::kWindow;
    block.attn.window = 8;
  }
  for (const BlockSpec& block : extended(windows, RopeScaling::kLinear, 2).blocks) {
    EXPECT_EQ(block.attn.rope.scaling, RopeScaling::kLinear);
  }
}

void expect_refused(ModelConfig config, RopeScaling kind, double factor, std::string_view part) {
  const int64_t n_ctx = config.n_ctx;
  const std::vector<BlockSpec> blocks = config.blocks;
  expect_error(extend_context(&config, kind, factor), ErrorCode::kInvalidArgument, part);
  EXPECT_EQ(config.n_ctx, n_ctx);
  EXPECT_TRUE(config.blocks == blocks);
}

TEST(ExtendContextTest, RefusesWhatCannotBeStretched) {
  ModelConfig learned = model();
  for (BlockSpec& block : learned.blocks) block.attn.position = PositionKind::kNone;
  expect_refused(learned, RopeScaling::kLinear, 2, "no rotary positions");
  for (const RopeScaling kind : {RopeScaling::kLlama3, RopeScaling::kFactors, RopeScaling::kLongRope}) {
    ModelConfig stretched = model();
    stretched.blocks[3].attn.rope.scaling = kind;
    expect_refused(stretched, RopeScaling::kLinear, 2, "stretched already, to a context of 128");
    expect_refused(model(), kind, 2, "linear, ntk, dynamic or yarn");
  }
  expect_refused(model(), RopeScaling::kNone, 2, "linear, ntk, dynamic or yarn");
  for (const double factor :
       {1.0, 0.5, 0.0, -2.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    expect_refused(model(), RopeScaling::kYarn, factor, "must be a number above 1");
  }
  expect_refused(model(), RopeScaling::kYarn, 1e9, "1000000000 times the 128 tokens");
  ModelConfig narrow = model();
  for (BlockSpec& block : narrow.blocks) block.attn.rope.d_rot = 2;
  expect_refused(narrow, RopeScaling::kNtk, 2, "too narrow");
}

TEST(ExtendContextTest, ReadsKindAndFactor) {
  const auto yarn = parse_context_extension("yarn:4");
  ASSERT_TRUE(yarn) << yarn.error().message;
  EXPECT_EQ(yarn->kind, RopeScaling::kYarn);
  EXPECT_EQ(yarn->factor, 4.0);
  EXPECT_EQ(parse_context_extension("ntk:2.5")->factor, 2.5);
  EXPECT_EQ(parse_context_extension("dynamic:1e1")->factor, 10.0);
  EXPECT_EQ(parse_context_extension("linear:2")->kind, RopeScaling::kLinear);
  for (const char* text :
       {"", ":", "yarn", "yarn:", ":4", "llama3:8", "none:1", "yarn:x", "yarn:4x", "yarn: 4", "YARN:4", "yarn:4:2"}) {
    expect_error(parse_context_extension(text), ErrorCode::kInvalidArgument, "expected KIND:FACTOR");
  }
}

}  // namespace
}  // namespace vitro
