// A golden file of tests/golden: PyTorch's weights and gradients, read into and out of our parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "model/config.h"
#include "model/decoder.h"

namespace shoal {

class Golden {
 public:
  explicit Golden(const std::string& name);

  const ModelConfig& config() const { return config_; }
  double z_loss() const;
  std::string hyper() const { return file_.metadata().at("hyper"); }  // JSON
  std::vector<float> floats(const std::string& name) const { return file_.floats(name); }
  std::vector<double> doubles(const std::string& name) const;
  double number(const std::string& name) const { return file_.floats(name).at(0); }
  std::vector<int32_t> ints(const std::string& name) const;

  // Sets every weight of the model from the tensors prefix/NAME.
  void load(const std::string& prefix, Decoder& model, Context& context) const;
  enum class Which { weights, gradients };
  // |ours - theirs| / |theirs| in the 2-norm, for every tensor prefix/NAME by its name.
  std::map<std::string, double> distances(const std::string& prefix, Decoder& model, Which which) const;

 private:
  SafetensorsFile file_;
  ModelConfig config_;
};

// |a - b| / |b| in the 2-norm.
double distance(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace shoal
