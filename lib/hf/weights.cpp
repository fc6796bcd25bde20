#include "hf/weights.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace shoal {
namespace {

// Buffers that older versions of transformers saved with the weights.
bool is_buffer(const std::string& name) {
  return name.ends_with(".attention.bias") || name.ends_with(".attention.masked_bias") ||
         name.ends_with(".rotary_emb.inv_freq");
}

bool same_shape(const std::vector<int64_t>& a, const Shape& b) {
  if (static_cast<int>(a.size()) != b.rank()) return false;
  for (int i = 0; i < b.rank(); ++i) {
    if (a[static_cast<size_t>(i)] != b[i]) return false;
  }
  return true;
}

bool is_tied_head(const HfFolder& folder, const ModelConfig& config, const std::string& name) {
  if (!config.tie_embeddings || (name != "embed_out.weight" && name != "lm_head.weight")) return false;
  const std::vector<float> head = folder.floats(name);
  const std::vector<float> table =
      folder.floats(config.family == "gpt-neox" ? "gpt_neox.embed_in.weight" : "model.embed_tokens.weight");
  return head.size() == table.size() &&
         std::memcmp(head.data(), table.data(), head.size() * sizeof(float)) == 0;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr size_t shown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace

void check_tensors(const HfFolder& folder, const ModelConfig& config) {
  std::vector<std::string> missing, shapes, extra, known;
  for (const HfTensor& tensor : hf_tensors(config)) {
    known.push_back(tensor.hf_name);
    const SafetensorsEntry* entry = folder.find(tensor.hf_name);
    if (entry == nullptr) {
      missing.push_back(tensor.hf_name);
    } else if (!same_shape(entry->shape, tensor.hf_shape)) {
      shapes.push_back(fmt::format("{} is {}, config.json makes it {}", tensor.hf_name,
                                   shape_text(entry->shape), to_string(tensor.hf_shape)));
    } else if (entry->dtype != "F32" && entry->dtype != "BF16" && entry->dtype != "F16") {
      throw UserError(Problem{.what = fmt::format("{} has type {}", tensor.hf_name, entry->dtype),
                              .where = folder.file(""),
                              .allowed = "F32, BF16 or F16"});
    }
  }
  std::sort(known.begin(), known.end());
  // Shapes first: what is_tied_head reads has them.
  const auto report = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    throw UserError(Problem{.what = fmt::format("{}: {}", what, first_few(names)),
                            .where = folder.file(""),
                            .hint = "config.json and the weights do not belong together"});
  };
  report("tensors are missing", missing);
  report("tensors have other shapes", shapes);
  for (const std::string& name : folder.tensors()) {
    if (std::binary_search(known.begin(), known.end(), name) || is_buffer(name)) continue;
    if (!is_tied_head(folder, config, name)) extra.push_back(name);
  }
  report("there are tensors that this model does not have", extra);
}

std::map<std::string, HfParameter> hf_parameters(const ModelConfig& config) {
  std::map<std::string, HfParameter> parameters;
  for (HfTensor& tensor : hf_tensors(config)) {
    HfParameter& parameter = parameters[tensor.parameter];
    // The parts cover the parameter, so that its end is the furthest end among them.
    Shape& shape = parameter.shape;
    while (shape.rank() < tensor.slab.shape.rank()) shape.append(0);
    for (int d = 0; d < shape.rank(); ++d)
      shape[d] = std::max(shape[d], tensor.slab.offset[d] + tensor.slab.shape[d]);
    parameter.parts.push_back(std::move(tensor));
  }
  return parameters;
}

void read_parameter(const HfFolder& folder, const HfParameter& parameter, const View& values) {
  for (const HfTensor& part : parameter.parts) {
    const std::vector<float> from = folder.floats(part.hf_name);
    View to = values;
    for (int d = 0; d < to.rank(); ++d) to = to.slice(d, part.slab.offset[d], part.slab.shape[d]);
    // Row by row of the last dim, which is contiguous.
    const int64_t length = to.dim(-1), rows = to.numel() / std::max<int64_t>(length, 1);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t rest = row, at = 0;
      for (int d = to.rank() - 2; d >= 0; --d) {
        at += rest % to.dim(d) * to.stride(d);
        rest /= to.dim(d);
      }
      std::memcpy(to.as<float>() + at, from.data() + row * length, size_t(length) * sizeof(float));
    }
  }
}

}  // namespace shoal
