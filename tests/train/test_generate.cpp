#include "train/generate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "train/evaluate.h"

using namespace shoal;

namespace {

struct Fixture {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 7);
  std::unique_ptr<Decoder> model;

  Fixture() {
    ModelSection section;
    section.hidden_size = 32;
    section.num_layers = 2;
    section.num_attention_heads = 4;
    section.vocab_size = 64;
    section.init = section.output_init = "normal";
    section.init_std = 0.3;  // logits with clear winners
    model = std::make_unique<Decoder>(resolve_model(section, 0), context, DecoderOptions{});
    model->materialize();
  }

  std::vector<float> last_logits(const std::vector<int32_t>& tokens, int64_t choices) {
    const Tensor all = model->logits(tokens.data(), 1, int64_t(tokens.size()));
    const int64_t vocab = model->config().vocab_size;
    std::vector<float> host(size_t(all.numel()));
    device->to_host(host.data(), all.view().data, all.view().bytes());
    const auto row = host.end() - ptrdiff_t(vocab);
    return {row, row + choices};
  }
};

const std::vector<int32_t> prompt{3, 17, 9, 60, 2};

}  // namespace

TEST_CASE("greedy generation is the argmax of full forwards") {
  Fixture f;
  GenerateOptions options;
  options.tokens = 20;
  options.sampling.temperature = 0;
  options.vocab_size = 50;
  std::vector<int32_t> sequence = prompt;
  for (int32_t token : generate(*f.model, f.context, prompt, options)) {
    const std::vector<float> logits = f.last_logits(sequence, 50);
    CHECK(token == std::max_element(logits.begin(), logits.end()) - logits.begin());
    sequence.push_back(token);
  }
  CHECK(sequence.size() == prompt.size() + 20);
}

TEST_CASE("seeds decide what is sampled") {
  Fixture f;
  GenerateOptions options;
  options.tokens = 30;
  options.sampling.top_k = 20;
  const auto first = generate(*f.model, f.context, prompt, options);
  CHECK(generate(*f.model, f.context, prompt, options) == first);
  options.seed = 99;
  CHECK(generate(*f.model, f.context, prompt, options) != first);
  // A shorter run is the beginning of a longer one.
  options.seed = 1234;
  options.tokens = 10;
  CHECK(generate(*f.model, f.context, prompt, options) ==
        std::vector<int32_t>(first.begin(), first.begin() + 10));
}

TEST_CASE("generation ends at the end-of-document token and when the reader has enough") {
  Fixture f;
  GenerateOptions options;
  options.tokens = 30;
  const auto all = generate(*f.model, f.context, prompt, options);
  options.end = all[5];
  const auto first = std::find(all.begin(), all.end(), all[5]);
  CHECK(generate(*f.model, f.context, prompt, options) == std::vector<int32_t>(all.begin(), first + 1));
  options.end = -1;
  int seen = 0;
  options.on_token = [&](int32_t) { return ++seen < 3; };
  CHECK(generate(*f.model, f.context, prompt, options).size() == 3);
}

TEST_CASE("the loss over a stream counts every token but the first once") {
  Fixture f;
  std::vector<int32_t> ids;
  for (int i = 0; i < 23; ++i) ids.push_back((i * 37 + 11) % 64);
  const TokenStream stream{int64_t(ids.size()), [&](int64_t first, int64_t count, int32_t* out) {
                             std::copy_n(ids.begin() + first, count, out);
                           }};
  const auto sums = evaluate(*f.model, stream, 8, {.micro = 2});
  REQUIRE(sums);
  CHECK(sums->kept_tokens == 22);

  // By hand: windows of 8 targets, each with a context that starts afresh.
  double expected = 0;
  for (size_t target = 1; target < ids.size(); ++target) {
    const size_t start = (target - 1) / 8 * 8;
    const std::vector<int32_t> context(ids.begin() + ptrdiff_t(start), ids.begin() + ptrdiff_t(target));
    const std::vector<float> logits = f.last_logits(context, f.model->config().vocab_size);
    const double maximum = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (float l : logits) sum += std::exp(double(l) - maximum);
    expected += maximum + std::log(sum) - double(logits[size_t(ids[target])]);
  }
  CHECK(sums->kept == doctest::Approx(expected).epsilon(1e-5));
  CHECK_FALSE(evaluate(*f.model, stream, 8, {.micro = 1, .stop = [] { return true; }}));
}
