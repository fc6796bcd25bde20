#include "checkpoint/agree.h"

#include <xxhash.h>

#include "base/error.h"
#include "checkpoint/checkpoint.h"

namespace shoal {
namespace {

constexpr const char* label = "checkpoint";

template <typename T>
View view_of(T* values, size_t count, DType dtype) {
  return View(values, dtype, Shape{static_cast<int64_t>(count)});
}

enum class Kind : int64_t { runtime, damaged, user };

struct Told {
  Kind kind = Kind::runtime;
  std::string text;
};

Told tell(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const DamagedCheckpoint& e) {
    return {Kind::damaged, e.what()};
  } catch (const UserError& e) {
    return {Kind::user, e.what()};
  } catch (const std::exception& e) {
    return {Kind::runtime, e.what()};
  } catch (...) {
    return {Kind::runtime, "unknown failure"};
  }
}

}  // namespace

void agree(Communicator& world, const std::exception_ptr& failure) {
  if (world.size() == 1) {
    if (failure) std::rethrow_exception(failure);
    return;
  }
  int64_t first = failure ? world.rank() : world.size();
  world.all_reduce(view_of(&first, 1, DType::i64), Reduce::min, label).wait();
  if (first == world.size()) return;
  Told told;
  if (world.rank() == first) told = tell(failure);
  int64_t header[2] = {static_cast<int64_t>(told.kind), static_cast<int64_t>(told.text.size())};
  world.broadcast(view_of(header, 2, DType::i64), static_cast<int>(first), label).wait();
  told.text.resize(static_cast<size_t>(header[1]));
  if (!told.text.empty()) {
    world.broadcast(view_of(told.text.data(), told.text.size(), DType::u8), static_cast<int>(first), label)
        .wait();
  }
  const std::string message = fmt::format("rank {}: {}", first, told.text);
  switch (static_cast<Kind>(header[0])) {
    case Kind::damaged:
      throw DamagedCheckpoint(message);
    case Kind::user:
      throw UserError(message);
    case Kind::runtime:
      break;
  }
  throw RuntimeFailure(message);
}

void agree_on(Communicator& world, const std::string& text, const std::string& what) {
  if (world.size() == 1) return;
  const auto mine = static_cast<int64_t>(XXH3_64bits(text.data(), text.size()));
  int64_t first = mine;
  world.broadcast(view_of(&first, 1, DType::i64), 0, label).wait();
  together(world, [&] {
    if (first != mine) runtime_failure("{} here are not those of rank 0", what);
  });
}

// In halves, so that sums of many ranks do not overflow on the way.
void add_up(Communicator& world, std::vector<TensorHash>& hashes) {
  if (world.size() == 1 || hashes.empty()) return;
  constexpr uint64_t half = 0xFFFFFFFFu;
  std::vector<int64_t> halves;
  for (const TensorHash& hash : hashes) {
    for (uint64_t word : {hash.low, hash.high}) {
      halves.push_back(static_cast<int64_t>(word & half));
      halves.push_back(static_cast<int64_t>(word >> 32));
    }
  }
  add_up(world, halves);
  const auto word = [&](size_t i) {
    return static_cast<uint64_t>(halves[i]) + (static_cast<uint64_t>(halves[i + 1]) << 32);
  };
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = {word(4 * i), word(4 * i + 2)};
}

void add_up(Communicator& world, std::vector<int64_t>& counts) {
  if (world.size() == 1 || counts.empty()) return;
  world.all_reduce(view_of(counts.data(), counts.size(), DType::i64), Reduce::sum, label).wait();
}

void broadcast_from_first(Communicator& world, std::vector<int64_t>& values) {
  if (world.size() == 1 || values.empty()) return;
  world.broadcast(view_of(values.data(), values.size(), DType::i64), 0, label).wait();
}

}  // namespace shoal
