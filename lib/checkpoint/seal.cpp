#include "checkpoint/seal.h"

#include <fcntl.h>

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "checkpoint/agree.h"
#include "checkpoint/checkpoint.h"
#include "grid/grid.h"

namespace shoal {
namespace {

constexpr std::string_view magic = "shoal checkpoint ";
constexpr int format_version = 1;
constexpr int64_t piece_bytes = int64_t{4} << 20;

Digest digest(const void* data, size_t bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, bytes));
  return std::to_array(canonical.digest);
}

int64_t pieces_of(int64_t file_bytes) {
  return (file_bytes - seal_bytes + piece_bytes - 1) / piece_bytes;
}

std::string hex(const Digest& digest) {
  std::string text;
  for (unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string lines_of(const Seal& seal) {
  return fmt::format("{}{}\nstep {}\nconsumed_samples {}\nbytes {}\ncontent {}\n", magic, format_version,
                     seal.step, seal.consumed_samples, seal.bytes, seal.content);
}

// The last line, over the lines before it. It stays so in later formats.
std::string closing_line(std::string_view lines) {
  return fmt::format("seal {}\n", hex(digest(lines.data(), lines.size())));
}

// The whole seal; what is not text is zero.
std::string block_of(const Seal& seal) {
  std::string block = lines_of(seal);
  block += closing_line(block);
  block.resize(size_t(seal_bytes), '\0');
  return block;
}

Seal parse_seal(const std::string& path, const std::string& block) {
  if (!block.starts_with(magic))
    throw DamagedCheckpoint(path, "not a shoal checkpoint, or its beginning is damaged");
  const size_t lines = block.find("\nseal ") + 1;
  const bool intact = lines > 0 && block.substr(lines).starts_with(closing_line(block.substr(0, lines)));
  int version = 0;
  Seal seal;
  std::array<char, 33> content{};
  long long step = 0, samples = 0, bytes = 0;
  const int found = std::sscanf(block.c_str() + magic.size(),
                                "%d step %lld consumed_samples %lld bytes %lld content %32[0-9a-f]", &version,
                                &step, &samples, &bytes, content.data());
  if (intact && found >= 1 && version > format_version) {
    throw UserError(
        Problem{.what = fmt::format("checkpoint format {} is newer than this program, which reads up to {}",
                                    version, format_version),
                .where = path});
  }
  seal.step = step;
  seal.consumed_samples = samples;
  seal.bytes = bytes;
  seal.content = content.data();
  // Comparing with what would be written covers every byte of the block.
  if (!intact || found != 5 || block != block_of(seal)) {
    throw DamagedCheckpoint(path, "damaged: the seal at its beginning is broken");
  }
  return seal;
}

Seal read_seal(const File& file, const std::string& path) {
  const int64_t size = file.size();
  if (size < seal_bytes)
    throw DamagedCheckpoint(path, fmt::format("not a checkpoint, or cut short: it has only {} bytes", size));
  std::string block(size_t(seal_bytes), '\0');
  file.read_at(block.data(), seal_bytes, 0);
  const Seal seal = parse_seal(path, block);
  if (seal.bytes != size)
    throw DamagedCheckpoint(path, fmt::format("damaged: {} bytes long, {} were written", size, seal.bytes));
  return seal;
}

}  // namespace

std::vector<Digest> hash_share(const File& file, int64_t file_bytes, int rank, int ranks, int threads) {
  const int64_t bytes = file_bytes - seal_bytes;
  const Range share = padded_part_of(pieces_of(file_bytes), ranks, rank);
  std::vector<Digest> digests(static_cast<size_t>(share.count));
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](int64_t first, int64_t step) {
    try {
      std::vector<char> buffer(static_cast<size_t>(std::min(piece_bytes, bytes)));
      for (int64_t i = first; i < share.count; i += step) {
        const int64_t at = (share.begin + i) * piece_bytes, length = std::min(piece_bytes, bytes - at);
        file.read_at(buffer.data(), length, seal_bytes + at);
        digests[static_cast<size_t>(i)] = digest(buffer.data(), static_cast<size_t>(length));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  const auto count = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, share.count / 4));
  std::vector<std::thread> others;
  for (int64_t t = 1; t < count; ++t) others.emplace_back(work, t, count);
  work(0, count);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
  return digests;
}

std::string content_hash(Communicator& world, int64_t file_bytes, std::vector<Digest> share) {
  const int64_t pieces = pieces_of(file_bytes), ranks = world.size(), each = (pieces + ranks - 1) / ranks;
  share.resize(static_cast<size_t>(each));
  std::vector<Digest> all(static_cast<size_t>(each * ranks));
  const auto bytes = [](std::vector<Digest>& digests) {
    return View(digests.data(), DType::u8, Shape{static_cast<int64_t>(digests.size() * sizeof(Digest))});
  };
  if (pieces > 0) world.all_gather(bytes(share), bytes(all), "checkpoint").wait();
  return hex(digest(all.data(), static_cast<size_t>(pieces) * sizeof(Digest)));
}

std::string hash_content(const File& file, int64_t file_bytes, int threads) {
  return content_hash(*make_self_communicator(), file_bytes, hash_share(file, file_bytes, 0, 1, threads));
}

void write_seal(const File& file, const Seal& seal) {
  const std::string block = block_of(seal);
  file.write_at(block.data(), seal_bytes, 0);
}

Seal read_seal(const std::string& path) {
  return read_seal(File(path, O_RDONLY), path);
}

Seal verify_seal(const std::string& path, Communicator& world) {
  Seal seal;
  std::vector<Digest> share;
  together(world, [&] {
    const File file(path, O_RDONLY);
    seal = read_seal(file, path);
    const int cores = static_cast<int>(std::min(8u, std::thread::hardware_concurrency()));
    share = hash_share(file, seal.bytes, world.rank(), world.size(), cores / world.size());
  });
  // The seal itself may have changed between the ranks' readings of it.
  agree_on(world, block_of(seal), path + ": the seals");
  if (content_hash(world, seal.bytes, std::move(share)) != seal.content) {
    throw DamagedCheckpoint(path, "damaged: its content does not match its hash");
  }
  return seal;
}

}  // namespace shoal
