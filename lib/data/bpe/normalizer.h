// Unicode normal forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/bpe/description.h"

namespace shoal {

class Normalizer {
 public:
  explicit Normalizer(std::vector<NormalForm> forms);

  // The normalised text: `text` itself where nothing changes, else written to `storage`. text is valid UTF-8.
  std::string_view operator()(std::string_view text, std::string& storage) const;

 private:
  std::vector<NormalForm> forms_;
};

}  // namespace shoal
