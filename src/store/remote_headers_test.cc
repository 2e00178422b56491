// Headers of models on a server that behaves like the hub: what is fetched, and that it reads as the whole model does.
#include "store/remote_headers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "formats/checkpoint.h"
#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/hub_server.h"
#include "testing/safetensors_writer.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::GgufWriter;
using testing::HubServer;
using testing::noise;
using testing::SafetensorsWriter;
using testing::TempFolder;

constexpr int64_t kRows = 2048, kColumns = 1024;  // 8 MiB as float32

HubServer& server() {
  static HubServer instance;
  return instance;
}

Hub hub(const std::string& behaviour) { return {server().endpoint(behaviour), ""}; }

HttpConnection& quick() {
  static HttpConnection connection({.connect_s = 5, .stall_s = 5, .n_tries = 2, .first_wait_s = 0.01});
  return connection;
}

/// Bytes that were asked for of the store's files.
uint64_t asked_bytes(const std::string& id) {
  uint64_t n_bytes = 0;
  for (const HubServer::Request& request : server().log(id)) {
    unsigned long long first = 0, last = 0;
    if (std::sscanf(request.range.c_str(), "bytes=%llu-%llu", &first, &last) == 2 && request.status == "206") {
      n_bytes += last - first + 1;
    }
  }
  return n_bytes;
}

class RemoteHeaders : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string weights = noise(kRows * kColumns * 4);
    server().add("a/tensors/config.json", "{\"model_type\": \"llama\"}");
    server().add("a/tensors/model.safetensors",
                 SafetensorsWriter().add("w", DType::kF32, {kRows, kColumns}, weights).bytes());
    GgufWriter gguf;
    gguf.add("general.architecture", "llama");
    gguf.add_tensor("w", DType::kF32, {kRows, kColumns}, weights);
    server().add("a/gguf/model-f32.gguf", gguf.bytes());
  }
};

TEST_F(RemoteHeaders, TakeOneConnectionAndTellOfEachFile) {
  TempFolder folder;
  std::vector<std::pair<size_t, size_t>> told;
  const auto on_file = [&](size_t n_done, size_t n_total) { told.emplace_back(n_done, n_total); };
  ASSERT_TRUE(fetch_headers({.repo = "a/tensors"}, hub("id=one"), folder.path(), quick(), on_file));
  EXPECT_EQ(told, (std::vector<std::pair<size_t, size_t>>{{1, 2}, {2, 2}}));
  std::map<std::string, std::set<std::string>> clients;
  for (const HubServer::Request& request : server().log("one")) clients[request.host].insert(request.client);
  EXPECT_EQ(clients.at("127.0.0.1").size(), 1U);
}

TEST_F(RemoteHeaders, ReadAsTheWholeModel) {
  for (const char* repo : {"a/tensors", "a/gguf"}) {
    TempFolder folder;
    const std::string id = std::string(repo).substr(2);
    const auto path = fetch_headers({.repo = repo}, hub("id=" + id), folder.path(), quick());
    ASSERT_TRUE(path) << path.error().message;
    const auto checkpoint = Checkpoint::open(*path, {.needs_weights = false});
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    const WeightEntry* w = checkpoint->find("w");
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->end - w->begin, uint64_t{kRows * kColumns * 4});
    const uint64_t n_asked = asked_bytes(id);
    EXPECT_GT(n_asked, 0u);
    EXPECT_LE(n_asked, uint64_t{4} << 20) << repo;
  }
}

TEST_F(RemoteHeaders, TakeNoRoomForWeights) {
  TempFolder folder;
  ASSERT_TRUE(fetch_headers({.repo = "a/tensors"}, hub("id=room"), folder.path(), quick()));
  struct stat info {};
  ASSERT_EQ(::stat((folder.path() / "model.safetensors").c_str(), &info), 0);
  EXPECT_GT(info.st_size, 8 << 20);
  EXPECT_LE(info.st_blocks * 512, 2 << 20);
}

TEST_F(RemoteHeaders, AServerWithoutRangesIsRefused) {
  TempFolder folder;
  const auto path = fetch_headers({.repo = "a/tensors"}, hub("id=plain,plain=1"), folder.path(), quick());
  expect_error(path, ErrorCode::kUnsupported, "no ranges");
  TempFolder other;
  expect_error(fetch_headers({.repo = "a/tensors"}, hub("id=hole,hole=1"), other.path(), quick()), ErrorCode::kCorrupt,
               "asked for bytes 0-");
}

TEST_F(RemoteHeaders, WhatIsNotThereIsNamed) {
  TempFolder folder;
  expect_error(fetch_headers({.repo = "a/none"}, hub("id=none"), folder.path(), quick()), ErrorCode::kNotFound,
               "a/none");
}

}  // namespace
}  // namespace vitro
