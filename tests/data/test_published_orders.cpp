// Golden orders of random sets: tests/golden/make_orders.py materialises with NumPy what is computed here.
#include <doctest/doctest.h>

#include <numeric>
#include <sstream>

#include "base/error.h"
#include "data/dataset.h"
#include "data/files.h"
#include "data/index_files.h"
#include "data/npy.h"
#include "data/published_source.h"
#include "data/rank_rows.h"
#include "data/split.h"
#include "data/token_file_writer.h"

using namespace shoal;

namespace {

using Longs = std::vector<int64_t>;

// FNV-1a over each value as eight little-endian bytes.
class Checksum {
 public:
  void add(int64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ = (state_ ^ (uint64_t(value) >> (8 * byte) & 0xff)) * 0x100000001b3u;
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

struct Setting {
  std::string program, split;
  uint32_t seed = 0;
  int64_t length = 0, needed = 0;
  size_t part = 0;
  std::vector<int32_t> sizes;
  int64_t epochs = 0, rows = 0, separate = 0;
  uint64_t documents = 0, begins = 0, shuffle = 0, tokens = 0;
  Longs first_row;
};

Setting parse(const std::string& line) {
  Setting s;
  std::istringstream in(line);
  in >> s.program >> s.seed >> s.length >> s.split >> s.part >> s.needed;
  for (std::string word; in >> word && word != "|";) s.sizes.push_back(std::stoi(word));
  in >> s.epochs >> s.rows >> s.separate >> s.documents >> s.begins >> s.shuffle >> s.tokens;
  for (int64_t token; in >> token;) s.first_row.push_back(token);
  return s;
}

std::vector<Setting> settings() {
  std::istringstream lines(read_file(std::string(SHOAL_SOURCE_DIR) + "/tests/data/orders/orders.txt"));
  std::vector<Setting> all;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') all.push_back(parse(line));
  }
  return all;
}

// A set whose token j is the number j.
void write_set(const std::string& prefix, const std::vector<int32_t>& sizes) {
  TokenFileWriter writer(prefix, {.vocab_size = 100000, .tokenizer = "", .end_of_document = -1});
  int32_t next = 0;
  for (int32_t size : sizes) {
    std::vector<int32_t> ids(static_cast<size_t>(size));
    std::iota(ids.begin(), ids.end(), next);
    next += size;
    if (size > 0) writer.append(ids.data(), size);
    writer.end_document();
  }
  writer.finish();
}

RunSpec spec_of(const Setting& s, const std::string& prefix) {
  RunSpec spec;
  spec.data.train = {{prefix, 1.0, ""}};
  spec.data.order = s.program;
  spec.data.seq_length = s.length;
  spec.data.seed = s.seed;
  spec.data.split = s.split;
  return spec;
}

std::vector<int32_t> row_of(const SampleSource& source, int64_t index) {
  std::vector<int32_t> row(size_t(source.seq_length() + 1));
  source.read(index, row.data());
  return row;
}

}  // namespace

TEST_CASE("published orders: every map and every token of 80 random settings") {
  const auto all = settings();
  REQUIRE(all.size() == 80);
  int separate = 0, several_epochs = 0;
  for (const Setting& s : all) {
    const bool is_megatron = s.program == "megatron";
    const auto ends = (is_megatron ? split_ranges_megatron : split_ranges)(s.split, int64_t(s.sizes.size()));
    const int64_t first = ends[s.part];
    const std::vector<int32_t> inside(s.sizes.begin() + first, s.sizes.begin() + ends[s.part + 1]);
    const IndexMap map(is_megatron ? PublishedOrder::megatron : PublishedOrder::gpt_neox, inside, s.length,
                       s.needed, 0, s.seed);
    CAPTURE(s.program);
    CAPTURE(s.seed);
    CHECK(map.epochs() == s.epochs);
    CHECK(map.num_rows() == s.rows);
    CHECK(map.separate_last_epoch() == (s.separate == 1));
    CHECK(map.size() == (is_megatron ? s.rows : s.rows - 1));
    separate += map.separate_last_epoch();
    several_epochs += map.epochs() > 1;

    Longs starts{0};
    for (int32_t size : s.sizes) starts.push_back(starts.back() + size);
    Checksum documents, begins, shuffle, tokens;
    for (int32_t document : map.documents()) documents.add(first + document);
    for (int64_t row = 0; row <= map.num_rows(); ++row) {
      const auto [place, token] = row == 0 ? std::pair<int64_t, int64_t>{0, 0} : map.place_of(row * s.length);
      begins.add(place);
      begins.add(token);
    }
    Longs served;
    for (int64_t i = 0; i < map.num_rows(); ++i) {
      shuffle.add(map.row_of(i));
      map.for_each_part(map.begin_of(i), s.length + 1, [&](int64_t document, int64_t from, int64_t count) {
        for (int64_t j = 0; j < count; ++j) served.push_back(starts[size_t(first + document)] + from + j);
      });
    }
    for (int64_t token : served) tokens.add(token);
    CHECK(documents.value() == s.documents);
    CHECK(begins.value() == s.begins);
    CHECK(shuffle.value() == s.shuffle);
    CHECK(tokens.value() == s.tokens);
    CHECK(Longs(served.begin(), served.begin() + s.length + 1) == s.first_row);
  }
  CHECK(separate >= 5);
  CHECK(several_epochs >= 30);
}

TEST_CASE("published orders: index files go out and come in again") {
  const test::TempFolder folder;
  int checked = 0;
  for (const Setting& s : settings()) {
    if (s.part != 0 || s.rows < 3) continue;
    const bool is_megatron = s.program == "megatron";
    const auto order = is_megatron ? PublishedOrder::megatron : PublishedOrder::gpt_neox;
    write_set(folder / "set", s.sizes);
    RunSpec spec = spec_of(s, folder / "set");
    const int64_t needed = is_megatron ? s.needed : std::min(s.needed, s.rows - 1);
    spec.data.order_samples = needed;
    const auto source = open_split(spec, Split::train, needed);
    const auto& published = dynamic_cast<const PublishedSource&>(*source);
    write_index_files(published.map(0), order, published.source(0).first_document(), folder / s.program);
    spec.data.order_samples = 0;
    spec.data.train[0].index = folder / s.program;
    spec.data.seed = 7;  // no longer matters
    const auto again = open_split(spec, Split::train, needed);
    REQUIRE(again->size() == source->size());
    for (int64_t i = 0; i < again->size(); ++i) CHECK(row_of(*again, i) == row_of(*source, i));
    ++checked;
  }
  CHECK(checked >= 30);
}

TEST_CASE("published orders: index files of another set are refused") {
  const test::TempFolder folder;
  const std::vector<int32_t> sizes{5, 1, 7, 3, 9, 2, 4, 6};
  const IndexMap map(PublishedOrder::gpt_neox, sizes, 4, 6, 0, 1234);
  write_index_files(map, PublishedOrder::gpt_neox, 0, folder / "maps");
  const auto read = [&](std::vector<int32_t> other, int64_t first, int64_t length) {
    return read_index_files(folder / "maps", PublishedOrder::gpt_neox, std::move(other), first, length);
  };
  CHECK(read(sizes, 0, 4).documents() == map.documents());
  CHECK_THROWS_WITH_AS(read({5, 1, 7}, 0, 4), doctest::Contains("element"), UserError);
  CHECK_THROWS_WITH_AS(read(sizes, 1, 4), doctest::Contains("names sequence"), UserError);
  CHECK_THROWS_WITH_AS(read(sizes, 0, 5), doctest::Contains("ends after"), UserError);
  CHECK_THROWS_WITH_AS(read({5, 1, 7, 3, 9, 2, 6, 4}, 0, 4), doctest::Contains("begins at token"), UserError);
  CHECK_THROWS_WITH_AS(read_index_files(folder / "none", PublishedOrder::gpt_neox, sizes, 0, 4),
                       doctest::Contains("no index files"), UserError);
  const std::vector<uint32_t> twice{6, 4, 0, 5, 3, 2, 8, 7, 7};
  write_npy<uint32_t>(folder / "maps_shuffle_idx.npy", {9}, twice);
  CHECK_THROWS_WITH_AS(read(sizes, 0, 4), doctest::Contains("second time"), UserError);
}

TEST_CASE("published orders: epochs and samples are frozen by keys") {
  const test::TempFolder folder;
  write_set(folder / "set", {5, 1, 7, 3, 9, 2, 4, 6});
  RunSpec spec;
  spec.data.train = {{folder / "set", 1.0, ""}};
  spec.data.seq_length = 4;
  spec.data.order = "gpt-neox";
  const auto two = open_split(spec, Split::train, 12);  // two epochs
  spec.data.epochs = 2;
  const auto frozen = open_split(spec, Split::train, 5);
  REQUIRE(frozen->size() == two->size());
  for (int64_t i = 0; i < two->size(); ++i) CHECK(row_of(*frozen, i) == row_of(*two, i));
  CHECK_THROWS_WITH_AS(open_split(spec, Split::train, 18), doctest::Contains("takes 18 samples"), UserError);
  spec.data.epochs = 0;
  CHECK(row_of(*open_split(spec, Split::train, 5), 0) != row_of(*two, 0));

  spec.data.order = "megatron";
  const auto long_run = open_split(spec, Split::train, 20);
  spec.data.order_samples = 20;
  const auto short_run = open_split(spec, Split::train, 3);
  for (int64_t i = 0; i < 20; ++i) CHECK(row_of(*short_run, i) == row_of(*long_run, i));
}

TEST_CASE("rank rows: a batch holds the same samples on any grid, in contiguous slices") {
  for (const Grid& grid : {Grid{{1, 1, 1, 1}}, Grid{{2, 1, 2, 2}}, Grid{{1, 2, 1, 4}}, Grid{{1, 1, 3, 1}}}) {
    const int replicas = num_replicas(grid);
    std::vector<int64_t> all;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
      const Coordinates at = coordinates_of(grid, rank);
      const auto samples = samples_of(5, 24, 2, replicas, replica_of(grid, at));
      CHECK(int64_t(samples.size()) == 24 / replicas);
      if (at[Axis::x] == 0 && at[Axis::y] == 0) all.insert(all.end(), samples.begin(), samples.end());
    }
    std::sort(all.begin(), all.end());
    Longs expected(24);
    std::iota(expected.begin(), expected.end(), 120);
    CHECK(all == expected);
  }
  CHECK(samples_of(1, 8, 2, 2, 1) == Longs{10, 11, 14, 15});
}
