// Writing a checkpoint. The steps are the ones that every rank of a grid takes together: hash what one holds
// and add the hashes up, create the datasets, write one's slabs, close, hash a share of the file's pieces;
// one rank seals and publishes.
#include <fcntl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5_handle.h"
#include "checkpoint/hdf5_sink.h"
#include "checkpoint/publish.h"
#include "checkpoint/seal.h"
#include "checkpoint/tensor_hash.h"

namespace shoal {
namespace {

// A global tensor and the slabs of it that this process holds.
struct Gathered {
  std::vector<const StateTensor*> slabs;
  TensorHash hash;
};

std::map<std::string, Gathered> gather(const std::vector<StateTensor>& tensors) {
  std::map<std::string, Gathered> all;
  for (const StateTensor& tensor : tensors) {
    Gathered& entry = all[tensor.name];
    if (!entry.slabs.empty()) {
      const StateTensor& first = *entry.slabs.front();
      SHOAL_CHECK(first.shape == tensor.shape && first.data.dtype == tensor.data.dtype);
    }
    entry.slabs.push_back(&tensor);
    entry.hash += hash_slab(tensor.shape, tensor.slab, tensor.data);
  }
  for (const auto& [name, entry] : all) {
    int64_t held = 0;
    for (const StateTensor* tensor : entry.slabs) held += tensor->slab.shape.numel();
    SHOAL_CHECK(held == entry.slabs.front()->shape.numel());
  }
  return all;
}

class Hdf5Writer {
 public:
  Hdf5Writer(const std::string& path, int64_t bytes) : path_(path), sink_(path) {
    sink_.reserve(bytes);
    const Hid creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_userblock(creation, seal_bytes);
    H5Pset_obj_track_times(creation, false);  // the same state gives the same bytes
    file_ = Hid(check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, sink_.access())), H5Fclose);
  }

  void number(const char* name, int64_t value) {
    const Hid type = hdf5_type(DType::i64), space = hdf5_space({});
    const Hid attribute(check(H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    check(H5Awrite(attribute, type, &value));
  }

  void text(const std::string& name, const std::string& value) {
    const Hid type = hdf5_text_type(std::max<size_t>(1, value.size()));
    const Hid dataset = create(name, type, {});
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()));
  }

  void tensor(const std::string& name, const Gathered& gathered) {
    const StateTensor& first = *gathered.slabs.front();
    const Hid dataset = create(name, first.data.dtype, first.shape, gathered.hash);
    for (const StateTensor* part : gathered.slabs) {
      if (part->data.numel() == 0) continue;
      const Hid memory = hdf5_space(part->slab.shape), space = hdf5_space(first.shape);
      select_slab(space, part->slab);
      const Hid type = hdf5_type(part->data.dtype);
      check(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, part->data.data));
    }
  }

  void tensor(const std::string& name, const View& values) {
    const Hid dataset =
        create(name, values.dtype, values.shape, hash_slab(values.shape, whole(values.shape), values));
    if (values.numel() == 0) return;
    const Hid type = hdf5_type(values.dtype);
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data));
  }

  void close() { check(file_.reset()); }

 private:
  template <typename T>
  T check(T result) {
    sink_.check();
    if (result < 0) hdf5_failure("write", path_);
    return result;
  }

  Hid create(const std::string& name, const Hid& type, const Shape& shape) {
    for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      if (!groups_.insert(name.substr(0, at)).second) continue;
      const Hid properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
      H5Pset_obj_track_times(properties, false);
      Hid(check(H5Gcreate2(file_, name.substr(0, at).c_str(), H5P_DEFAULT, properties, H5P_DEFAULT)),
          H5Gclose);
    }
    const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(properties, false);
    return Hid(
        check(H5Dcreate2(file_, name.c_str(), type, hdf5_space(shape), H5P_DEFAULT, properties, H5P_DEFAULT)),
        H5Dclose);
  }

  Hid create(const std::string& name, DType dtype, const Shape& shape, const TensorHash& hash) {
    const Hid type = hdf5_type(dtype);
    Hid dataset = create(name, type, shape);
    const std::string digits = to_string(hash);
    const Hid text = hdf5_text_type(digits.size()), scalar = hdf5_space({});
    const Hid attribute(check(H5Acreate2(dataset, "hash", text, scalar, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    check(H5Awrite(attribute, text, digits.data()));
    return dataset;
  }

  std::string path_;
  std::set<std::string> groups_;
  Hdf5Sink sink_;
  Hid file_;  // closed before the sink
};

// write_tensors(writer) writes every tensor; bytes is what they take.
template <typename WriteTensors>
void write_file(const std::string& path, const CheckpointInfo& info, int64_t bytes,
                const WriteTensors& write_tensors) {
  PendingFile pending(path);
  {
    const auto lock = lock_hdf5();
    Hdf5Writer writer(pending.temporary(), seal_bytes + bytes);
    writer.number("format_version", 1);
    writer.number("step", info.step);
    writer.number("consumed_samples", info.consumed_samples);
    writer.text("spec", info.spec_yaml);
    for (const auto& [name, value] : info.strings) writer.text("state/" + name, value);
    write_tensors(writer);
    writer.close();
  }
  {
    const File file(pending.temporary(), O_RDWR);
    Seal seal{info.step, info.consumed_samples, file.size(), {}};
    seal.content = hash_content(file, seal.bytes, 1);
    write_seal(file, seal);
  }
  pending.publish();
}

}  // namespace

void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors) {
  const std::map<std::string, Gathered> all = gather(tensors);
  int64_t bytes = 0;
  for (const auto& [name, entry] : all) {
    bytes += entry.slabs.front()->shape.numel() * size_of(entry.slabs.front()->data.dtype);
  }
  write_file(path, info, bytes, [&](Hdf5Writer& writer) {
    for (const auto& [name, entry] : all) writer.tensor(name, entry);
  });
}

void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<LazyTensor>& tensors) {
  std::map<std::string, const LazyTensor*> all;
  int64_t bytes = 0;
  for (const LazyTensor& tensor : tensors) {
    SHOAL_CHECK(all.emplace(tensor.name, &tensor).second);
    bytes += tensor.shape.numel() * size_of(tensor.dtype);
  }
  write_file(path, info, bytes, [&](Hdf5Writer& writer) {
    for (const auto& [name, tensor] : all) {
      const auto size = static_cast<size_t>(tensor->shape.numel() * size_of(tensor->dtype));
      const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
      const View values(memory.get(), tensor->dtype, tensor->shape);
      tensor->fill(values);
      writer.tensor(name, values);
    }
  });
}

}  // namespace shoal
