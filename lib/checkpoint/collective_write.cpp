#include "checkpoint/collective_write.h"

#include <fcntl.h>

#include "base/check.h"
#include "base/error.h"
#include "checkpoint/agree.h"
#include "checkpoint/pieces.h"

namespace shoal {

CollectiveWrite::CollectiveWrite(Communicator& world, const std::string& path, const CheckpointInfo& info,
                                 const std::vector<StateTensor>& tensors)
    : world_(world), seal_{info.step, info.consumed_samples, 0, {}} {
  for (const StateTensor& tensor : tensors) {
    Entry& entry = entries_[tensor.name];
    if (entry.pieces.empty()) {
      entry.dtype = tensor.data.dtype;
      entry.shape = tensor.shape;
    }
    SHOAL_CHECK(entry.shape == tensor.shape && entry.dtype == tensor.data.dtype);
    entry.pieces.push_back(share_of(tensor));
  }
  check_entries();
  if (world_.rank() == 0) pending_.emplace(path);
  temporary_ = path + std::string(pending_suffix);
  create(info);
}

void CollectiveWrite::check_entries() const {
  std::string table;
  std::vector<int64_t> held;
  for (const auto& [name, entry] : entries_) {
    table += fmt::format("{} {} {}\n", name, name_of(entry.dtype), to_string(entry.shape));
    held.push_back(0);
    for (const StateTensor& piece : entry.pieces) held.back() += piece.range().count;
  }
  agree_on(world_, table, "the tensors to be saved");
  add_up(world_, held);
  size_t i = 0;
  for (const auto& [name, entry] : entries_) SHOAL_CHECK(held[i++] == entry.shape.numel());
}

void CollectiveWrite::create(const CheckpointInfo& info) {
  std::vector<int64_t> offsets(entries_.size());
  together(world_, [&] {
    if (world_.rank() != 0) return;
    int64_t bytes = 0;
    for (const auto& [name, entry] : entries_) bytes += entry.shape.numel() * size_of(entry.dtype);
    writer_ = std::make_unique<Hdf5Writer>(temporary_, bytes);
    writer_->add_info(info);
    size_t i = 0;
    for (const auto& [name, entry] : entries_)
      offsets[i++] = writer_->add_tensor(name, entry.dtype, entry.shape);
  });
  broadcast_from_first(world_, offsets);
  size_t i = 0;
  for (auto& [name, entry] : entries_) entry.offset = offsets[i++];
}

void CollectiveWrite::work() noexcept {
  try {
    switch (step_) {
      case Step::write:
        return write_pieces();
      case Step::hash:
        digests_ = hash_share(File(temporary_, O_RDONLY), seal_.bytes, world_.rank(), world_.size(), 1);
        return;
      case Step::publish:
        if (world_.rank() != 0) return;
        write_seal(File(temporary_, O_RDWR), seal_);
        return pending_->publish();
      case Step::done:
        SHOAL_CHECK(false);
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void CollectiveWrite::write_pieces() {
  const File file(temporary_, O_WRONLY);
  for (auto& [name, entry] : entries_) {
    const int64_t width = size_of(entry.dtype), offset = entry.offset;
    for (const StateTensor& piece : entry.pieces) {
      entry.hash += hash_part(entry.shape, piece.slab, piece.range(), piece.data);
      const auto* data = static_cast<const std::byte*>(piece.data.data);
      for_each_run(entry.shape, piece.slab, piece.range(), [&](int64_t index, int64_t at, int64_t count) {
        file.write_at(data + at * width, count * width, offset + index * width);
      });
    }
    entry.pieces.clear();
  }
  // Each machine writes its own part to the disk; the first rank does so when it publishes.
  if (world_.rank() != 0) file.sync();
}

bool CollectiveWrite::exchange() {
  try {
    agree(world_, failure_);
    switch (step_) {
      case Step::write:
        finish_file();
        step_ = Step::hash;
        break;
      case Step::hash:
        seal_.content = content_hash(world_, seal_.bytes, std::move(digests_));
        step_ = Step::publish;
        break;
      case Step::publish:
      case Step::done:
        step_ = Step::done;
    }
  } catch (...) {
    writer_.reset();
    pending_.reset();
    throw;
  }
  return step_ == Step::done;
}

void CollectiveWrite::finish_file() {
  std::vector<TensorHash> hashes;
  for (const auto& [name, entry] : entries_) hashes.push_back(entry.hash);
  add_up(world_, hashes);
  std::vector<int64_t> bytes(1);
  together(world_, [&] {
    if (world_.rank() != 0) return;
    size_t i = 0;
    for (const auto& [name, entry] : entries_) writer_->set_hash(name, hashes[i++]);
    writer_->close();
    writer_.reset();
    bytes[0] = File(temporary_, O_RDONLY).size();
  });
  broadcast_from_first(world_, bytes);
  seal_.bytes = bytes[0];
}

}  // namespace shoal
