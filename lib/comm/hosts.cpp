#include "comm/hosts.h"

#include <unistd.h>

#include <array>
#include <cstring>

namespace shoal {

namespace {

constexpr size_t max_name = 64;
constexpr int questions = 16;

int64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

View number(int64_t& value) {
  return View(&value, DType::i64, {1});
}

}  // namespace

std::string host_name() {
  std::array<char, max_name + 1> name{};
  gethostname(name.data(), max_name);
  return name.data();
}

std::vector<std::string> host_names(Communicator& group) {
  const auto ranks = static_cast<size_t>(group.size());
  std::string mine = host_name(), all(max_name * ranks, '\0');
  mine.resize(max_name);
  group
      .all_gather(View(mine.data(), DType::u8, {int64_t(max_name)}),
                  View(all.data(), DType::u8, {int64_t(max_name * ranks)}), "hosts")
      .wait();
  std::vector<std::string> hosts;
  for (size_t r = 0; r < ranks; ++r) {
    const std::string name = all.substr(r * max_name, max_name);
    hosts.emplace_back(name.c_str());
  }
  return hosts;
}

std::chrono::nanoseconds clock_offset(Communicator& group, const std::vector<std::string>& hosts) {
  int64_t offset = 0, fastest = INT64_MAX;
  for (int r = 1; r < group.size(); ++r) {
    if (hosts[static_cast<size_t>(r)] == hosts[0]) continue;
    for (int i = 0; i < questions; ++i) {
      int64_t time = 0;
      if (group.rank() == 0) {
        group.recv(number(time), r, "clock").wait();
        time = now();
        group.send(number(time), r, "clock").wait();
      } else if (group.rank() == r) {
        const int64_t begin = now();
        group.send(number(time), 0, "clock").wait();
        group.recv(number(time), 0, "clock").wait();
        const int64_t end = now();
        if (end - begin >= fastest) continue;
        fastest = end - begin;
        offset = time - (begin + (end - begin) / 2);
      }
    }
  }
  return std::chrono::nanoseconds(offset);
}

void collect(Communicator& group, const std::string& mine,
             const std::function<void(int rank, const std::string& text)>& take) {
  const auto bytes_of = [](std::string& text) {
    return View(text.data(), DType::u8, {static_cast<int64_t>(text.size())});
  };
  if (group.rank() > 0) {
    auto size = static_cast<int64_t>(mine.size());
    std::string text = mine;
    group.send(number(size), 0, "collect").wait();
    group.send(bytes_of(text), 0, "collect").wait();
    return;
  }
  take(0, mine);
  for (int r = 1; r < group.size(); ++r) {
    int64_t size = 0;
    group.recv(number(size), r, "collect").wait();
    std::string text(static_cast<size_t>(size), '\0');
    group.recv(bytes_of(text), r, "collect").wait();
    take(r, text);
  }
}

}  // namespace shoal
