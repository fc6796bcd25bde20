#include <doctest/doctest.h>

#include <cmath>

#include "checkpoint/diff.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

CheckpointDiff diff_of(const test::Sample& a, const test::Sample& b) {
  const test::TempFolder folder;
  write_checkpoint(folder / "a.h5", a.info, a.tensors);
  write_checkpoint(folder / "b.h5", b.info, b.tensors);
  CheckpointReader left(folder / "a.h5"), right(folder / "b.h5");
  return diff_checkpoints(left, right);
}

}  // namespace

TEST_CASE("equal checkpoints do not differ, whatever their specs say") {
  test::Sample a, b;
  CHECK(diff_of(a, b).same_state());
  CHECK(diff_of(a, b).equal_tensors == a.tensors.size());
  b.info.spec_yaml += "log: {every: 2}\n";
  CHECK(diff_of(a, b).same_state());
  CHECK(diff_of(a, b).spec.size() == 1);
}

TEST_CASE("differences of tensors are measured") {
  test::Sample a, b;
  for (test::Sample* sample : {&a, &b}) {
    for (size_t i = 0; i < 16; ++i) sample->tensors[2].data.as<float>()[i] = 3;
  }
  b.tensors[2].data.as<float>()[5] = 4;
  b.tensors[2].data.as<float>()[6] = 2.5f;
  const CheckpointDiff diff = diff_of(a, b);
  CHECK(!diff.same_state());
  CHECK(diff.equal_tensors == a.tensors.size() - 1);
  REQUIRE(diff.tensors.size() == 1);
  const TensorDifference& found = diff.tensors[0];
  CHECK(found.name == "model/layers.0.norm.bias");
  CHECK(found.max_abs == 1);
  CHECK(found.max_rel == 0.25);
  CHECK(found.norm_a == doctest::Approx(12));
  CHECK(found.norm_b == doctest::Approx(std::sqrt(14 * 9 + 16 + 6.25)));
  CHECK(found.norm_difference == doctest::Approx(std::sqrt(1.25)));

  b.tensors[2].data.as<float>()[5] = NAN;
  CHECK(std::isinf(diff_of(a, b).tensors[0].max_abs));
  // Zeros of either sign are different bits and equal numbers.
  for (size_t i = 0; i < 16; ++i) {
    a.tensors[2].data.as<float>()[i] = 0.0f;
    b.tensors[2].data.as<float>()[i] = -0.0f;
  }
  CHECK(!diff_of(a, b).same_state());
  CHECK(diff_of(a, b).tensors[0].max_abs == 0);
}

TEST_CASE("tensors that only one has, other shapes, types and state") {
  test::Sample a, b;
  a.add("model/only.a", DType::f32, {1});
  b.add("model/only.b", DType::f32, {1});
  a.add("model/shape", DType::f32, {2, 3});
  b.add("model/shape", DType::f32, {3, 2});
  a.add("model/type", DType::f32, {2});
  b.add("model/type", DType::bf16, {2});
  b.info.step = 8;
  b.info.strings.erase("empty");
  const CheckpointDiff diff = diff_of(a, b);
  REQUIRE(diff.tensors.size() == 4);
  CHECK(diff.tensors[0].problem == "only in the first");
  CHECK(diff.tensors[1].problem == "only in the second");
  CHECK(diff.tensors[2].problem == "f32 [2, 3] against f32 [3, 2]");
  CHECK(diff.tensors[3].problem == "f32 [2] against bf16 [2]");
  CHECK(diff.state == std::vector<std::string>{"empty:  against (absent)", "step: 7 against 8"});
}

TEST_CASE("specs are compared key by key") {
  const std::string a =
      "version: 1\nrun:\n  name: x\n  steps: 10\noptimizer:\n  betas: [0.9, 0.95]\n  lr: 1\n";
  const std::string b = "version: 1\nrun:\n  name: y\n  steps: 10\noptimizer:\n  lr: 1\n  new: {a: 2}\n";
  CHECK(diff_specs(a, a).empty());
  CHECK(diff_specs(a, b) == std::vector<std::string>{"optimizer.betas: [0.9, 0.95] against (absent)",
                                                     "optimizer.new: (absent) against {a: 2}",
                                                     "run.name: x against y"});
  const std::string c =
      "data:\n  train:\n    - path: p\n      weight: 1\n    - path: q\n      weight: 2\n  seed: 3\n";
  const std::string d =
      "data:\n  train:\n    - path: p\n      weight: 1\n    - path: r\n      weight: 5\n  seed: 4\n";
  CHECK(diff_specs(c, d).size() == 3);
}
