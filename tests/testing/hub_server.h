// hub_server.py as a child process, and a folder that it serves.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "net/http.h"
#include "testing/temp_folder.h"

extern char** environ;

namespace vitro::testing {

/// Bytes that no two places of a file share, so that a range in the wrong place shows.
inline std::string noise(size_t n_bytes, uint64_t seed = 1) {
  std::string out(n_bytes, '\0');
  uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (char& c : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(state >> 56);
  }
  return out;
}

/// Runs until the object's end.
class HubServer {
 public:
  HubServer() {
    // A proxy of this machine knows nothing of its own ports.
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    const std::string script = std::string(VITRO_SOURCE_DIR) + "/tests/testing/hub_server.py";
    const std::string folder = folder_.path().string();
    const std::string pem = certificate();
    std::array<const char*, 5> argv = {"python3", script.c_str(), folder.c_str(), pem.c_str(), nullptr};
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (::posix_spawnp(&pid_, argv[0], &actions, nullptr, const_cast<char**>(argv.data()), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::FILE* ports = ::fdopen(out[0], "r");
    if (std::fscanf(ports, "%d %d", &port_, &tls_port_) != 2) ADD_FAILURE() << "hub_server.py did not start";
    std::fclose(ports);
  }
  ~HubServer() {
    ::close(stdin_);  // it ends by that
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;

  static std::string certificate() { return std::string(VITRO_SOURCE_DIR) + "/tests/data/net/localhost.pem"; }

  /// The hub's address, with words of hub_server.py's Behaviour.
  std::string endpoint(const std::string& behaviour) const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/~" + behaviour;
  }
  std::string tls_endpoint(const std::string& behaviour) const {
    return "https://localhost:" + std::to_string(tls_port_) + "/~" + behaviour;
  }
  /// What hub_server.py calls "localhost": another host than the endpoint's.
  std::string other_host() const { return "http://localhost:" + std::to_string(port_); }

  void add(const std::string& path, const std::string& contents) const {
    const std::filesystem::path file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << contents;
  }

  struct Request {
    std::string method, host, path, status, token, range, client;
  };
  /// What was asked under the id, so far as it was answered.
  std::vector<Request> log(const std::string& id) const {
    HttpConnection connection({});
    const auto answer =
        get_text({.url = other_host() + "/log/" + id, .range = {}, .bearer_token = {}}, size_t{1} << 24, connection);
    if (!answer) ADD_FAILURE() << "no log: " << answer.error().message;
    std::istringstream lines(answer ? answer->text : "");
    std::vector<Request> out;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      Request request;
      for (std::string* field : {&request.method, &request.host, &request.path, &request.status, &request.token,
                                 &request.range, &request.client}) {
        std::getline(fields, *field, '\t');
      }
      out.push_back(request);
    }
    return out;
  }

 private:
  TempFolder folder_;
  pid_t pid_ = -1;
  int stdin_ = -1;
  int port_ = 0;
  int tls_port_ = 0;
};

}  // namespace vitro::testing
