#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/error.h"
#include "checkpoint/agree.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5_handle.h"
#include "checkpoint/seal.h"
#include "checkpoint/tensor_hash.h"

namespace shoal {
namespace {

constexpr std::string_view state_folder = "state/";

std::optional<DType> dtype_of(const Hid& type) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32, DType::i64, DType::u8, DType::u16}) {
    if (H5Tequal(type, hdf5_type(dtype)) > 0) return dtype;
  }
  return std::nullopt;
}

bool is_sum_of(const TensorHash& hash, uint64_t copies, const std::string& stored) {
  TensorHash one;
  if (std::sscanf(stored.c_str(), "%16" SCNx64 "%16" SCNx64, &one.high, &one.low) != 2) return false;
  return to_string(one) == stored && hash == one * copies;
}

}  // namespace

struct CheckpointReader::Impl {
  std::string path;
  std::shared_ptr<Communicator> world;
  CheckpointInfo info;
  std::vector<Entry> entries;
  Hid file;

  ~Impl() {
    const auto lock = lock_hdf5();
    file.reset();
  }

  template <typename T>
  T check(T result) const {
    if (result < 0) hdf5_failure("read", path);
    return result;
  }

  void open_file() {
    const auto lock = lock_hdf5();
    file = Hid(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5_file_access()), H5Fclose);
    if (!file.valid()) hdf5_failure("open", path);
    info.step = number("step");
    info.consumed_samples = number("consumed_samples");

    std::vector<std::string> datasets;
    const auto visit = [](hid_t, const char* name, const H5O_info_t* object, void* names) -> herr_t {
      if (object->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
      return 0;
    };
    check(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, visit, &datasets, H5O_INFO_BASIC));
    std::sort(datasets.begin(), datasets.end());
    for (const std::string& name : datasets) add_dataset(name);
  }

  Hid open(const std::string& name) const {
    return Hid(check(H5Dopen2(file, name.c_str(), H5P_DEFAULT)), H5Dclose);
  }

  int64_t number(const char* name) const {
    const Hid attribute(check(H5Aopen(file, name, H5P_DEFAULT)), H5Aclose);
    int64_t value = 0;
    check(H5Aread(attribute, hdf5_type(DType::i64), &value));
    return value;
  }

  std::string text(const Hid& dataset) const {
    const Hid type(check(H5Dget_type(dataset)), H5Tclose);
    std::string value(H5Tget_size(type), '\0');
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()));
    value.resize(value.find_last_not_of('\0') + 1);
    return value;
  }

  void add_dataset(const std::string& name) {
    const Hid dataset = open(name);
    if (name == "spec") {
      info.spec_yaml = text(dataset);
    } else if (name.starts_with(state_folder)) {
      info.strings[name.substr(state_folder.size())] = text(dataset);
    } else {
      add_tensor(name, dataset);
    }
  }

  void add_tensor(const std::string& name, const Hid& dataset) {
    const std::optional<DType> dtype = dtype_of(Hid(check(H5Dget_type(dataset)), H5Tclose));
    if (!dtype) runtime_failure("{}: {} has a type that is not known here", path, name);
    const Hid space(check(H5Dget_space(dataset)), H5Sclose);
    const int rank = check(H5Sget_simple_extent_ndims(space));
    if (rank > Shape::max_rank) runtime_failure("{}: {} has {} dims", path, name, rank);
    hsize_t dims[Shape::max_rank] = {};
    check(H5Sget_simple_extent_dims(space, dims, nullptr));
    Entry entry{name, *dtype, {}, std::string(32, '\0')};
    for (int d = 0; d < rank; ++d) entry.shape.append(static_cast<int64_t>(dims[d]));
    const Hid attribute(check(H5Aopen(dataset, "hash", H5P_DEFAULT)), H5Aclose);
    check(H5Aread(attribute, hdf5_text_type(entry.hash.size()), entry.hash.data()));
    entries.push_back(std::move(entry));
  }

  void read_piece(const StateTensor& into, const Entry* entry) const {
    if (!entry) runtime_failure("{}: there is no tensor {}", path, into.name);
    if (!(entry->shape == into.shape) || entry->dtype != into.data.dtype) {
      runtime_failure("{}: {} is {} {} there, {} {} is needed", path, into.name, name_of(entry->dtype),
                      to_string(entry->shape), name_of(into.data.dtype), to_string(into.shape));
    }
    SHOAL_CHECK(into.data.contiguous() && into.data.numel() == into.range().count);
    if (into.data.numel() == 0) return;
    const auto lock = lock_hdf5();
    const Hid dataset = open(into.name), type = hdf5_type(entry->dtype), space = hdf5_space(into.shape);
    auto* data = static_cast<std::byte*>(into.data.data);
    for (const Slab& slab : slabs_of(into.slab, into.range())) {
      select_slab(space, slab);
      check(H5Dread(dataset, type, hdf5_space(slab.shape), space, H5P_DEFAULT, data));
      data += slab.shape.numel() * size_of(entry->dtype);
    }
  }
};

CheckpointReader::CheckpointReader(const std::string& path)
    : CheckpointReader(path, make_self_communicator()) {}

CheckpointReader::CheckpointReader(const std::string& path, Communicator& world)
    : CheckpointReader(path, std::shared_ptr<Communicator>(std::shared_ptr<Communicator>(), &world)) {}

CheckpointReader::CheckpointReader(const std::string& path, std::shared_ptr<Communicator> world)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->world = std::move(world);
  verify_seal(path, *impl_->world);
  together(*impl_->world, [&] { impl_->open_file(); });
}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;

const std::string& CheckpointReader::path() const {
  return impl_->path;
}
const CheckpointInfo& CheckpointReader::info() const {
  return impl_->info;
}
const std::vector<CheckpointReader::Entry>& CheckpointReader::entries() const {
  return impl_->entries;
}

const CheckpointReader::Entry* CheckpointReader::find(const std::string& name) const {
  const auto at =
      std::lower_bound(impl_->entries.begin(), impl_->entries.end(), name,
                       [](const Entry& entry, const std::string& key) { return entry.name < key; });
  return at != impl_->entries.end() && at->name == name ? &*at : nullptr;
}

void CheckpointReader::read(const std::vector<StateTensor>& into) {
  struct Found {
    TensorHash hash;
    int64_t count = 0;
  };
  std::map<std::string, Found> all;
  together(*impl_->world, [&] {
    for (const StateTensor& tensor : into) {
      Found& found = all[tensor.name];
      impl_->read_piece(tensor, find(tensor.name));
      found.hash += hash_part(tensor.shape, tensor.slab, tensor.range(), tensor.data);
      found.count += tensor.range().count;
    }
  });
  std::string names;
  std::vector<TensorHash> hashes;
  std::vector<int64_t> counts;
  for (const auto& [name, found] : all) {
    names += name + "\n";
    hashes.push_back(found.hash);
    counts.push_back(found.count);
  }
  agree_on(*impl_->world, names, "the tensors to be read");
  add_up(*impl_->world, hashes);
  add_up(*impl_->world, counts);
  size_t i = 0;
  for (const auto& [name, found] : all) {
    const Entry* entry = find(name);
    const int64_t elements = entry->shape.numel(), count = counts[i];
    const TensorHash hash = hashes[i++];
    if (elements == 0 || count == 0 || count % elements != 0) continue;
    if (!is_sum_of(hash, static_cast<uint64_t>(count / elements), entry->hash)) {
      throw DamagedCheckpoint(impl_->path,
                              fmt::format("damaged: the content of {} does not match its hash", name));
    }
  }
}

void CheckpointReader::verify() {
  for (const Entry& entry : impl_->entries) {
    const Range share = part_of(entry.shape.numel(), impl_->world->size(), impl_->world->rank());
    const auto bytes = static_cast<size_t>(share.count * size_of(entry.dtype));
    std::unique_ptr<void, decltype(&std::free)> memory(nullptr, std::free);
    together(*impl_->world, [&] {
      memory.reset(std::malloc(std::max<size_t>(1, bytes)));
      if (!memory) runtime_failure("{}: no memory for {} ({} bytes)", impl_->path, entry.name, bytes);
    });
    const View data(memory.get(), entry.dtype, Shape{share.count});
    read({entry.name, entry.shape, whole(entry.shape), data, share});
  }
}

}  // namespace shoal
