// The first 4096 bytes of a checkpoint (HDF5's user block): a few lines of text with the length and the hash
// of all that follows, and a hash of the lines themselves. HDF5 never sees a file whose seal is broken,
// because the library may crash on damaged metadata.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/publish.h"
#include "comm/communicator.h"

namespace shoal {

constexpr int64_t seal_bytes = 4096;

struct Seal {
  int64_t step = 0;
  int64_t consumed_samples = 0;
  int64_t bytes = 0;    // of the whole file
  std::string content;  // XXH3-128 of the XXH3-128 digests of the 4 MiB pieces of what follows the seal
};

// The digests of a rank's share of a file's pieces, with some threads; the last ranks' may be empty.
using Digest = std::array<unsigned char, 16>;
std::vector<Digest> hash_share(const File& file, int64_t file_bytes, int rank, int ranks, int threads);
// The content hash, from the shares of all ranks. Collective.
std::string content_hash(Communicator& world, int64_t file_bytes, std::vector<Digest> share);
// The content hash of a file of that length, by one process.
std::string hash_content(const File& file, int64_t file_bytes, int threads);

void write_seal(const File& file, const Seal& seal);

// Reads the seal alone and compares the file's length. Throws as CheckpointReader does.
Seal read_seal(const std::string& path);

// Reads the whole file, each rank its share, and compares its hash. Throws as CheckpointReader does.
// Collective.
Seal verify_seal(const std::string& path, Communicator& world);

}  // namespace shoal
