#include <fcntl.h>

#include <map>
#include <memory>

#include "base/check.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/collective_write.h"

namespace shoal {

void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors) {
  write_checkpoint(*make_self_communicator(), path, info, tensors);
}

void write_checkpoint(Communicator& world, const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors) {
  CollectiveWrite write(world, path, info, tensors);
  do {
    write.work();
  } while (!write.exchange());
}

void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<LazyTensor>& tensors) {
  struct Entry {
    const LazyTensor* tensor;
    int64_t offset = 0;
  };
  std::map<std::string, Entry> all;
  int64_t bytes = 0;
  for (const LazyTensor& tensor : tensors) {
    SHOAL_CHECK(all.emplace(tensor.name, Entry{&tensor}).second);
    bytes += tensor.shape.numel() * size_of(tensor.dtype);
  }
  PendingFile pending(path);
  Hdf5Writer writer(pending.temporary(), bytes);
  writer.add_info(info);
  for (auto& [name, entry] : all) {
    entry.offset = writer.add_tensor(name, entry.tensor->dtype, entry.tensor->shape);
  }
  const File file(pending.temporary(), O_RDWR);
  for (const auto& [name, entry] : all) {
    const Shape& shape = entry.tensor->shape;
    const auto size = static_cast<size_t>(shape.numel() * size_of(entry.tensor->dtype));
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
    const View values(memory.get(), entry.tensor->dtype, shape);
    entry.tensor->fill(values);
    file.write_at(values.data, values.bytes(), entry.offset);
    writer.set_hash(name, hash_slab(shape, whole(shape), values));
  }
  writer.close();
  Seal seal{info.step, info.consumed_samples, file.size(), {}};
  seal.content = hash_content(file, seal.bytes, 1);
  write_seal(file, seal);
  pending.publish();
}

}  // namespace shoal
