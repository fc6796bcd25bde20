#include <dnnl.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/cpu/gemm.h"

namespace shoal::cpu {
namespace {

using dnnl::memory;

memory::data_type type_of(DType dtype) {
  SHOAL_CHECK(dtype == DType::f32 || dtype == DType::bf16);
  return dtype == DType::f32 ? memory::data_type::f32 : memory::data_type::bf16;
}

// A matrix as the product sees it, transposed or not.
struct Operand {
  Operand() = default;
  Operand(const View& view, bool transpose) : dtype(view.dtype) {
    const int r = transpose ? 1 : 0, c = 1 - r;
    rows = view.dim(r), columns = view.dim(c);
    row_stride = view.stride(r), column_stride = view.stride(c);
  }
  memory::desc desc() const {
    return {{rows, columns}, type_of(dtype), memory::dims{row_stride, column_stride}};
  }
  memory::desc any_desc() const { return {{rows, columns}, type_of(dtype), memory::format_tag::any}; }
  auto operator<=>(const Operand&) const = default;

  DType dtype = DType::f32;
  int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;
};

// All that a primitive depends on.
struct Key {
  Operand a, b, c;
  bool accumulate = false, bias = false, packed = false;
  auto operator<=>(const Key&) const = default;
};

struct Product {
  dnnl::matmul::primitive_desc desc;
  dnnl::matmul primitive;
};

class OneDnnGemm final : public Gemm {
 public:
  explicit OneDnnGemm(Device& device)
      : device_(device), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  std::string name() const override {
    const dnnl_version_t* const v = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", v->major, v->minor, v->patch);
  }

  bool supports(DType dtype) const override { return dtype == DType::f32 || dtype == DType::bf16; }

  // A product with a large output is made in panels of rows: oneDNN's blocking serves a tall output of a
  // transposed matrix (the weight gradient of a vocabulary matrix) at half the speed otherwise.
  void multiply(const MatmulArgs& args) override {
    constexpr int64_t panel_rows = 4096;
    if (!args.transpose_a || args.c.dim(0) < 2 * panel_rows) return multiply_panel(args);
    for (int64_t begin = 0; begin < args.c.dim(0); begin += panel_rows) {
      MatmulArgs panel = args;
      const int64_t rows = std::min(panel_rows, args.c.dim(0) - begin);
      panel.a = args.a.slice(1, begin, rows);
      panel.c = args.c.slice(0, begin, rows);
      multiply_panel(panel);
    }
  }

  void weights_changed() override { packed_.clear(); }

 private:
  void multiply_panel(const MatmulArgs& args) {
    const Key key{.a = {args.a, args.transpose_a},
                  .b = {args.b, args.transpose_b},
                  .c = {args.c, false},
                  .accumulate = args.accumulate,
                  .bias = args.bias.defined(),
                  .packed = args.b_is_weight && args.b.bytes() <= largest_packed};
    const Product& product = find(key);
    const Tensor scratch(device_, DType::u8, {int64_t(product.desc.scratchpad_desc().get_size())});
    Tensor packed_b;
    if (key.packed) {
      const memory::desc wanted = product.desc.weights_desc();
      packed_b = args.b_is_passing ? pack(args.b.data, key.b, wanted) : packed(args.b.data, key.b, wanted);
    }
    void* const b = key.packed ? packed_b.view().data : args.b.data;
    std::unordered_map<int, memory> operands{
        {DNNL_ARG_SRC, memory(product.desc.src_desc(), engine_, args.a.data)},
        {DNNL_ARG_WEIGHTS, memory(product.desc.weights_desc(), engine_, b)},
        {DNNL_ARG_DST, memory(product.desc.dst_desc(), engine_, args.c.data)},
        {DNNL_ARG_SCRATCHPAD, memory(product.desc.scratchpad_desc(), engine_, scratch.view().data)}};
    if (key.bias) operands.emplace(DNNL_ARG_BIAS, memory(product.desc.bias_desc(), engine_, args.bias.data));
    product.primitive.execute(stream_, operands);
    stream_.wait();
  }

  const Product& find(const Key& key) {
    const auto found = products_.find(key);
    if (found != products_.end()) return found->second;
    // Far above what a model uses; a caller whose shapes never repeat must not fill the memory.
    constexpr size_t most_products = 4096;
    if (products_.size() >= most_products) products_.clear();
    return products_.emplace(key, make(key)).first->second;
  }

  Product make(const Key& key) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (key.accumulate) {
      dnnl::post_ops add_to;
      add_to.append_sum(1.0f);
      attributes.set_post_ops(add_to);
    }
    const memory::desc a = key.a.desc(), b = key.packed ? key.b.any_desc() : key.b.desc(), c = key.c.desc();
    const memory::desc bias({1, key.c.columns}, memory::data_type::f32, memory::format_tag::ab);
    const auto desc = key.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    try {
      const dnnl::matmul::primitive_desc primitive_desc(desc, attributes, engine_);
      return {primitive_desc, dnnl::matmul(primitive_desc)};
    } catch (const dnnl::error& e) {
      runtime_failure("oneDNN has no product [{}, {}] x [{}, {}] in {}: {}", key.a.rows, key.a.columns,
                      key.b.rows, key.b.columns, name_of(key.a.dtype), e.what());
    }
  }

  // The weight in the layout that the primitive prefers. It pays even for one use, but only one that is used
  // again before weights_changed() is worth its memory: a step of a single micro-batch keeps none.
  Tensor packed(void* data, const Operand& operand, const memory::desc& wanted) {
    auto& copies = packed_[{data, operand}];
    const auto known =
        std::find_if(copies.begin(), copies.end(), [&](const Packed& p) { return p.desc == wanted; });
    if (known != copies.end() && known->memory.defined()) return known->memory;
    const Tensor copy = pack(data, operand, wanted);
    if (known != copies.end()) {
      known->memory = copy;
    } else {
      copies.emplace_back(wanted, Tensor());
    }
    return copy;
  }

  Tensor pack(void* data, const Operand& operand, const memory::desc& wanted) {
    Tensor copy(device_, DType::u8, {int64_t(wanted.get_size())});
    const memory from(operand.desc(), engine_, data), to(wanted, engine_, copy.view().data);
    dnnl::reorder(from, to).execute(stream_, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    stream_.wait();
    return copy;
  }

  // Packing saves a product about 4 %, at the price of a copy of the weight; a vocabulary matrix is too large
  // for it.
  static constexpr int64_t largest_packed = int64_t{32} << 20;

  struct Packed {
    Packed(const memory::desc& d, Tensor m) : desc(d), memory(std::move(m)) {}
    dnnl::memory::desc desc;
    Tensor memory;
  };

  Device& device_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::map<Key, Product> products_;
  std::map<std::pair<void*, Operand>, std::vector<Packed>> packed_;
};

}  // namespace

std::unique_ptr<Gemm> make_gemm(Device& device) {
  return std::make_unique<OneDnnGemm>(device);
}

}  // namespace shoal::cpu
