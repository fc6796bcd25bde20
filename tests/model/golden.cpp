#include "model/golden.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/hf_names.h"

namespace shoal {
namespace {

Activation activation_of(const std::string& name) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  REQUIRE(name == "silu");
  return Activation::silu;
}

ModelConfig config_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  ModelConfig c;
  json.at("family").get_to(c.family);
  json.at("hidden_size").get_to(c.hidden_size);
  json.at("num_layers").get_to(c.num_layers);
  json.at("num_heads").get_to(c.num_heads);
  json.at("num_kv_heads").get_to(c.num_kv_heads);
  json.at("head_dim").get_to(c.head_dim);
  json.at("intermediate_size").get_to(c.intermediate_size);
  json.at("vocab_size").get_to(c.vocab_size);
  json.at("rmsnorm").get_to(c.rmsnorm);
  json.at("norm_unit_offset").get_to(c.norm_unit_offset);
  json.at("norm_eps").get_to(c.norm_eps);
  c.activation = activation_of(json.at("activation"));
  json.at("gated").get_to(c.gated);
  json.at("parallel_residual").get_to(c.parallel_residual);
  json.at("rotary_dims").get_to(c.rotary_dims);
  json.at("rotary_base").get_to(c.rotary_base);
  json.at("attention_bias").get_to(c.attention_bias);
  json.at("mlp_bias").get_to(c.mlp_bias);
  json.at("norm_bias").get_to(c.norm_bias);
  json.at("tie_embeddings").get_to(c.tie_embeddings);
  json.at("embedding_scale").get_to(c.embedding_scale);
  c.init = c.output_init = "normal";
  return c;
}

// The slab of a contiguous tensor of the given global shape as a view.
View part_of_tensor(View view, const Shape& global, const Slab& slab) {
  view = view.reshape(global);
  for (int i = 0; i < global.rank(); ++i) view = view.slice(i, slab.offset[i], slab.shape[i]);
  return view;
}

// Calls visit(element of the view, position in row-major order).
template <typename Visit>
void for_each_element(const View& view, Visit visit) {
  auto* data = view.as<float>();
  for (int64_t i = 0; i < view.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (int d = view.rank() - 1; d >= 0; --d) {
      at += rest % view.dim(d) * view.stride(d);
      rest /= view.dim(d);
    }
    visit(data[at], static_cast<size_t>(i));
  }
}

}  // namespace

Golden::Golden(const std::string& name)
    : file_(std::string(SHOAL_SOURCE_DIR "/tests/golden/") + name + ".safetensors"),
      config_(config_of(file_.metadata().at("config"))) {}

double Golden::z_loss() const {
  return std::stod(file_.metadata().at("z_loss"));
}

std::vector<int32_t> Golden::ints(const std::string& name) const {
  const View view = file_.view(name);
  return {view.as<int32_t>(), view.as<int32_t>() + view.numel()};
}

std::vector<double> Golden::doubles(const std::string& name) const {
  const View view = file_.view(name);
  return {view.as<double>(), view.as<double>() + view.numel()};
}

void Golden::load(const std::string& prefix, Decoder& model, Context& context) const {
  for (const HfTensor& tensor : hf_tensors(config_)) {
    Parameter* parameter = model.parameters().find(tensor.parameter);
    REQUIRE(parameter != nullptr);
    const std::vector<float> values = file_.floats(prefix + "/" + tensor.hf_name);
    REQUIRE(static_cast<int64_t>(values.size()) == tensor.slab.shape.numel());
    for_each_element(part_of_tensor(parameter->master, parameter->spec.shape, tensor.slab),
                     [&](float& ours, size_t i) { ours = values[i]; });
  }
  model.parameters().masters_changed(context);
}

std::map<std::string, double> Golden::distances(const std::string& prefix, Decoder& model,
                                                Which which) const {
  std::map<std::string, double> result;
  for (const HfTensor& tensor : hf_tensors(config_)) {
    Parameter* parameter = model.parameters().find(tensor.parameter);
    REQUIRE(parameter != nullptr);
    const Tensor& values = which == Which::weights ? parameter->master : parameter->grad;
    std::vector<float> ours(static_cast<size_t>(tensor.slab.shape.numel()));
    for_each_element(part_of_tensor(values, parameter->spec.shape, tensor.slab),
                     [&](float& value, size_t i) { ours[i] = value; });
    result[tensor.hf_name] = distance(ours, file_.floats(prefix + "/" + tensor.hf_name));
  }
  return result;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    norm += double(b[i]) * b[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace shoal
