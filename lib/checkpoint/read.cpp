#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
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

}  // namespace

struct CheckpointReader::Impl {
  std::string path;
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
};

CheckpointReader::CheckpointReader(const std::string& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  verify_seal(path);
  const auto lock = lock_hdf5();
  impl_->file = Hid(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5_file_access()), H5Fclose);
  if (!impl_->file.valid()) hdf5_failure("open", path);
  impl_->info.step = impl_->number("step");
  impl_->info.consumed_samples = impl_->number("consumed_samples");

  std::vector<std::string> datasets;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* object, void* names) -> herr_t {
    if (object->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  impl_->check(H5Ovisit2(impl_->file, H5_INDEX_NAME, H5_ITER_INC, visit, &datasets, H5O_INFO_BASIC));
  std::sort(datasets.begin(), datasets.end());
  for (const std::string& name : datasets) impl_->add_dataset(name);
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

void CheckpointReader::read(const StateTensor& into) {
  const Entry* entry = find(into.name);
  if (!entry) runtime_failure("{}: there is no tensor {}", impl_->path, into.name);
  if (!(entry->shape == into.shape) || entry->dtype != into.data.dtype) {
    runtime_failure("{}: {} is {} {} there, {} {} is needed", impl_->path, into.name, name_of(entry->dtype),
                    to_string(entry->shape), name_of(into.data.dtype), to_string(into.shape));
  }
  SHOAL_CHECK(into.data.contiguous() && into.data.shape == into.slab.shape);
  if (into.data.numel() > 0) {
    const auto lock = lock_hdf5();
    const Hid dataset = impl_->open(into.name);
    const Hid memory = hdf5_space(into.slab.shape), space = hdf5_space(into.shape);
    select_slab(space, into.slab);
    impl_->check(H5Dread(dataset, hdf5_type(entry->dtype), memory, space, H5P_DEFAULT, into.data.data));
  }
  const bool all = into.slab.shape == into.shape;
  if (all && to_string(hash_slab(into.shape, into.slab, into.data)) != entry->hash) {
    throw DamagedCheckpoint(impl_->path,
                            fmt::format("damaged: the content of {} does not match its hash", into.name));
  }
}

void CheckpointReader::verify() {
  for (const Entry& entry : impl_->entries) {
    const auto bytes = static_cast<size_t>(entry.shape.numel() * size_of(entry.dtype));
    const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(std::max<size_t>(1, bytes)),
                                                             std::free);
    if (!memory) runtime_failure("{}: no memory for {} ({} bytes)", impl_->path, entry.name, bytes);
    read({entry.name, entry.shape, whole(entry.shape), View(memory.get(), entry.dtype, entry.shape)});
  }
}

}  // namespace shoal
