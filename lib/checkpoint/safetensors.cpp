#include "checkpoint/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "checkpoint/publish.h"
#include "checkpoint/safetensors_writer.h"
#include "tensor/half.h"

namespace shoal {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t length_bytes = 8;
constexpr uint64_t max_header = 100'000'000;  // the reference implementation's own limit

struct TypeRow {
  std::string_view name;
  int64_t bytes;
  std::optional<DType> dtype;
};
constexpr TypeRow types[] = {
    {"F64", 8, DType::f64},    {"F32", 4, DType::f32},       {"F16", 2, std::nullopt},
    {"BF16", 2, DType::bf16},  {"I64", 8, DType::i64},       {"I32", 4, DType::i32},
    {"I16", 2, std::nullopt},  {"I8", 1, std::nullopt},      {"U64", 8, std::nullopt},
    {"U32", 4, std::nullopt},  {"U16", 2, DType::u16},       {"U8", 1, DType::u8},
    {"BOOL", 1, std::nullopt}, {"F8_E4M3", 1, std::nullopt}, {"F8_E5M2", 1, std::nullopt}};

const TypeRow* find_type(std::string_view name) {
  const auto row = std::find_if(std::begin(types), std::end(types), [&](auto& t) { return t.name == name; });
  return row == std::end(types) ? nullptr : row;
}

[[noreturn]] void malformed(const std::string& file, const std::string& what) {
  throw UserError(Problem{.what = what,
                          .where = file,
                          .value = {},
                          .allowed = {},
                          .hint = "the file is damaged or is not a safetensors file"});
}

// The JSON object, refusing what nlohmann's own parser lets pass: a name that comes twice.
json parse_object(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> names;
  std::string twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > 8) malformed(file, "the header is nested too deeply");
    const auto level = static_cast<size_t>(depth);
    if (event == json::parse_event_t::object_start) {
      names.resize(level + 1);
      names[level].clear();
    } else if (event == json::parse_event_t::key &&
               !names[level - 1].insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
    }
    return true;
  };
  json header;
  try {
    header = json::parse(text, watch);
  } catch (const json::exception& e) {
    malformed(file, fmt::format("the header is not JSON: {}", e.what()));
  }
  if (!twice.empty()) malformed(file, fmt::format("the header has \"{}\" twice", twice));
  if (!header.is_object()) malformed(file, "the header is not a JSON object");
  return header;
}

// A list of whole numbers that are not negative, such as a shape.
std::optional<std::vector<int64_t>> sizes_of(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const json& item : value) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
    sizes.push_back(item.get<int64_t>());
  }
  return sizes;
}

// An entry with offset still relative to the end of the header.
SafetensorsEntry parse_entry(const std::string& name, const json& value, const std::string& file) {
  const auto fail = [&](const std::string& what) {
    malformed(file, fmt::format("tensor {}: {}", name, what));
  };
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets")) {
    fail("needs dtype, shape and data_offsets, and nothing else");
  }
  SafetensorsEntry entry;
  entry.name = name;
  const TypeRow* type = value["dtype"].is_string() ? find_type(value["dtype"].get<std::string>()) : nullptr;
  if (!type) fail(fmt::format("unknown dtype {}", value["dtype"].dump(-1, ' ', true)));
  entry.dtype = type->name;
  const auto shape = sizes_of(value["shape"]);
  if (!shape) fail("the shape is not a list of sizes");
  entry.shape = *shape;
  const auto offsets = sizes_of(value["data_offsets"]);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    fail("data_offsets is not [begin, end]");
  entry.offset = (*offsets)[0];
  entry.bytes = (*offsets)[1] - (*offsets)[0];
  int64_t bytes = type->bytes;
  for (int64_t size : entry.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) fail("the shape is too large");
  }
  if (bytes != entry.bytes)
    fail(fmt::format("its shape takes {} bytes, data_offsets give {}", bytes, entry.bytes));
  return entry;
}

template <typename T>
void convert(const std::byte* from, std::vector<float>& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(value);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < length_bytes)
    malformed(name, fmt::format("{} bytes are too few for a header", file.size()));
  uint64_t length;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > max_header || length > file.size() - length_bytes) {
    malformed(name, fmt::format("a header of {} bytes does not fit in a file of {}", length, file.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + length_bytes, length);
  const json object = parse_object(text, name);

  SafetensorsHeader header;
  for (const auto& [key, value] : object.items()) {
    if (key != "__metadata__") {
      header.entries.push_back(parse_entry(key, value, name));
      continue;
    }
    if (!value.is_object()) malformed(name, "__metadata__ is not an object");
    for (const auto& [field, content] : value.items()) {
      if (!content.is_string()) malformed(name, fmt::format("__metadata__ {} is not a string", field));
      header.metadata[field] = content.get<std::string>();
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  int64_t end = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.offset != end) {
      malformed(name, fmt::format("tensor {} starts at byte {} of the data, where byte {} is due", entry.name,
                                  entry.offset, end));
    }
    end += entry.bytes;
  }
  const auto data = static_cast<int64_t>(file.size() - length_bytes - length);
  if (end != data) malformed(name, fmt::format("the tensors take {} bytes, the file holds {}", end, data));
  for (SafetensorsEntry& entry : header.entries) entry.offset += static_cast<int64_t>(length_bytes + length);
  return header;
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const File file(path, O_RDONLY);
  const auto size = static_cast<size_t>(file.size());
  if (size > 0) {
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
    if (map == MAP_FAILED) io_failure("map", path, errno);
    file_ = {static_cast<const std::byte*>(map), size};
  }
  try {
    header_ = parse_safetensors(file_, path);
  } catch (...) {
    if (size > 0) ::munmap(const_cast<std::byte*>(file_.data()), size);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() {
  if (!file_.empty()) ::munmap(const_cast<std::byte*>(file_.data()), file_.size());
}

void SafetensorsFile::release() const {
  if (!file_.empty()) ::madvise(const_cast<std::byte*>(file_.data()), file_.size(), MADV_DONTNEED);
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto entry = std::find_if(header_.entries.begin(), header_.entries.end(),
                                  [&](const SafetensorsEntry& e) { return e.name == name; });
  return entry == header_.entries.end() ? nullptr : &*entry;
}

const SafetensorsEntry& SafetensorsFile::at(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  if (!entry) user_error("{}: there is no tensor {}", path_, name);
  return *entry;
}

View SafetensorsFile::view(std::string_view name) const {
  const SafetensorsEntry& entry = at(name);
  const TypeRow* type = find_type(entry.dtype);
  if (!type->dtype)
    user_error("{}: tensor {} has type {}, which is not supported here", path_, name, entry.dtype);
  if (entry.shape.size() > Shape::max_rank) {
    user_error("{}: tensor {} has {} dims, at most {} are supported", path_, name, entry.shape.size(),
               Shape::max_rank);
  }
  if (entry.offset % type->bytes != 0) {
    user_error("{}: tensor {} is not aligned to its {} byte elements", path_, name, type->bytes);
  }
  Shape shape;
  for (int64_t size : entry.shape) shape.append(size);
  return View(const_cast<std::byte*>(file_.data() + entry.offset), *type->dtype, shape);
}

std::vector<float> SafetensorsFile::floats(std::string_view name) const {
  const SafetensorsEntry& entry = at(name);
  const std::byte* data = file_.data() + entry.offset;
  const int64_t width = find_type(entry.dtype)->bytes;
  std::vector<float> values(static_cast<size_t>(entry.bytes / width));
  if (entry.dtype == "F32")
    convert<float>(data, values);
  else if (entry.dtype == "F64")
    convert<double>(data, values);
  else if (entry.dtype == "BF16")
    convert<bf16>(data, values);
  else if (entry.dtype == "I64")
    convert<int64_t>(data, values);
  else if (entry.dtype == "I32")
    convert<int32_t>(data, values);
  else if (entry.dtype == "I16")
    convert<int16_t>(data, values);
  else if (entry.dtype == "I8")
    convert<int8_t>(data, values);
  else if (entry.dtype == "U64")
    convert<uint64_t>(data, values);
  else if (entry.dtype == "U32")
    convert<uint32_t>(data, values);
  else if (entry.dtype == "U16")
    convert<uint16_t>(data, values);
  else if (entry.dtype == "U8" || entry.dtype == "BOOL")
    convert<uint8_t>(data, values);
  else if (entry.dtype == "F16") {
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, data + 2 * i, sizeof bits);
      values[i] = half_to_float(bits);
    }
  } else {
    user_error("{}: tensor {} has type {}, which cannot be read as floats", path_, name, entry.dtype);
  }
  return values;
}

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, View>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<std::string, View>*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(-size_of(a->second.dtype), std::string_view(a->first)) <
           std::pair(-size_of(b->second.dtype), std::string_view(b->first));
  });

  std::vector<SafetensorsEntry> entries;
  for (const auto* tensor : order) {
    const View& view = tensor->second;
    SHOAL_CHECK(view.contiguous());
    const auto* type =
        std::find_if(std::begin(types), std::end(types), [&](auto& t) { return t.dtype == view.dtype; });
    SafetensorsEntry entry{tensor->first, std::string(type->name), {}, 0, view.bytes()};
    for (int d = 0; d < view.rank(); ++d) entry.shape.push_back(view.dim(d));
    entries.push_back(std::move(entry));
  }
  SafetensorsWriter writer(path, std::move(entries), metadata);
  for (const auto* tensor : order) writer.append(tensor->second.data, tensor->second.bytes());
  writer.finish();
}

}  // namespace shoal
