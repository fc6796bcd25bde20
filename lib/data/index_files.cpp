#include "data/index_files.h"

#include <filesystem>

#include <fmt/format.h>
#include "base/error.h"
#include "data/npy.h"

namespace shoal {
namespace {

struct Names {
  std::string documents, samples, shuffle;
};

Names names_of(const std::string& prefix, PublishedOrder order) {
  if (order == PublishedOrder::megatron) {
    return {prefix + "-document_index.npy", prefix + "-sample_index.npy", prefix + "-shuffle_index.npy"};
  }
  return {prefix + "_doc_idx.npy", prefix + "_sample_idx.npy", prefix + "_shuffle_idx.npy"};
}

// Where row i begins as those programs state it: the first one at document 0, be it empty.
std::pair<int64_t, int64_t> begin_of_row(const IndexMap& map, int64_t row) {
  return row == 0 ? std::pair<int64_t, int64_t>{0, 0} : map.place_of(row * map.seq_length());
}

template <typename T>
void write_samples(const IndexMap& map, const std::string& path) {
  std::vector<T> begins;
  begins.reserve(size_t(2 * (map.num_rows() + 1)));
  for (int64_t row = 0; row <= map.num_rows(); ++row) {
    const auto [place, token] = begin_of_row(map, row);
    begins.push_back(T(place));
    begins.push_back(T(token));
  }
  write_npy<T>(path, {map.num_rows() + 1, 2}, begins);
}

[[noreturn]] void fail(const NpyFile& file, int64_t element, const std::string& what) {
  throw UserError(
      Problem{what, fmt::format("{}: element {}", file.path(), element), "", "",
              "the files belong to another set, another seq_length or another part of data.split"});
}

std::vector<int32_t> read_documents(const NpyFile& file, int64_t first, int64_t count) {
  std::vector<int32_t> documents(size_t(file.size()));
  for (int64_t i = 0; i < file.size(); ++i) {
    const int64_t document = file[i] - first;
    if (document < 0 || document >= count) {
      fail(file, i,
           fmt::format("names sequence {}, and the set has {} to {}", file[i], first, first + count - 1));
    }
    documents[size_t(i)] = int32_t(document);
  }
  return documents;
}

std::vector<int64_t> read_shuffle(const NpyFile& file, int64_t rows) {
  if (file.size() != rows) {
    fail(file, file.size(),
         fmt::format("ends after {} samples, and the documents hold {}", file.size(), rows));
  }
  std::vector<int64_t> shuffle(size_t(rows), 0);
  std::vector<bool> seen(size_t(rows), false);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = file[i];
    if (row < 0 || row >= rows || seen[size_t(row)]) {
      fail(file, i,
           fmt::format("serves row {}, {}", row,
                       row < 0 || row >= rows ? fmt::format("of {}", rows) : "for the second time"));
    }
    seen[size_t(row)] = true;
    shuffle[size_t(i)] = row;
  }
  return shuffle;
}

void check_begins(const NpyFile& file, const IndexMap& map) {
  if (file.shape() != std::vector<int64_t>{map.num_rows() + 1, 2}) {
    fail(file, 0, fmt::format("has no shape [{}, 2]", map.num_rows() + 1));
  }
  const int64_t step = 1 + map.num_rows() / 1'000'000;
  for (int64_t row = 0; row <= map.num_rows(); row += step) {
    const auto [place, token] = begin_of_row(map, row);
    if (file[2 * row] == place && file[2 * row + 1] == token) continue;
    fail(file, 2 * row,
         fmt::format(
             "lets row {} begin at token {} of document {}, and by the sizes it begins at token {} of {}",
             row, file[2 * row + 1], file[2 * row], token, place));
  }
}

}  // namespace

std::vector<std::string> write_index_files(const IndexMap& map, PublishedOrder order, int64_t first_document,
                                           const std::string& prefix) {
  const Names names = names_of(prefix, order);
  std::vector<int32_t> documents = map.documents();
  for (int32_t& document : documents) document += int32_t(first_document);
  write_npy<int32_t>(names.documents, {int64_t(documents.size())}, documents);
  const int64_t rows = map.num_rows();
  2 * (rows + 1) < INT32_MAX ? write_samples<int32_t>(map, names.samples)
                             : write_samples<int64_t>(map, names.samples);
  if (rows < int64_t(UINT32_MAX) - 1) {
    std::vector<uint32_t> shuffle(size_t(rows), 0);
    for (int64_t i = 0; i < rows; ++i) shuffle[size_t(i)] = uint32_t(map.row_of(i));
    write_npy<uint32_t>(names.shuffle, {rows}, shuffle);
  } else {
    std::vector<int64_t> shuffle(size_t(rows), 0);
    for (int64_t i = 0; i < rows; ++i) shuffle[size_t(i)] = map.row_of(i);
    write_npy<int64_t>(names.shuffle, {rows}, shuffle);
  }
  return {names.documents, names.samples, names.shuffle};
}

IndexMap read_index_files(const std::string& prefix, PublishedOrder order, std::vector<int32_t> sizes,
                          int64_t first_document, int64_t seq_length) {
  Names names = names_of(prefix, PublishedOrder::gpt_neox);
  if (!std::filesystem::exists(names.documents)) names = names_of(prefix, PublishedOrder::megatron);
  if (!std::filesystem::exists(names.documents)) {
    throw UserError(Problem{"there are no index files", prefix, "",
                            "a prefix before _doc_idx.npy or -document_index.npy", ""});
  }
  const auto count = int64_t(sizes.size());
  std::vector<int32_t> documents = read_documents(NpyFile(names.documents), first_document, count);
  int64_t tokens = 0;
  for (int32_t document : documents) tokens += sizes[size_t(document)];
  const int64_t rows = tokens > seq_length ? (tokens - 1) / seq_length : 0;
  if (rows == 0)
    user_error("{}: its documents hold {} tokens, too few for one sample", names.documents, tokens);
  IndexMap map(order, std::move(sizes), seq_length, std::move(documents),
               read_shuffle(NpyFile(names.shuffle), rows));
  if (std::filesystem::exists(names.samples)) check_begins(NpyFile(names.samples), map);
  return map;
}

}  // namespace shoal
