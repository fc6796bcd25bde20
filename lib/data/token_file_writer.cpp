#include "data/token_file_writer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "data/mapped_file.h"
#include "data/output_file.h"

namespace shoal {

TokenFileWriter::TokenFileWriter(const std::string& prefix, const Source& source)
    : prefix_(prefix), source_(source), type_(token_type_for(source.vocab_size)) {
  if (const auto folder = std::filesystem::path(prefix).parent_path(); !folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      throw RuntimeFailure(Problem{"cannot be created: " + error.message(), folder.string(), "", "", ""});
  }
  bin_ = std::make_unique<OutputFile>(prefix + ".bin");
  index_ = std::make_unique<OutputFile>(prefix + ".idx");
  chunk_.reserve(size_t(TokenFileMeta::kChunkBytes));
  const char header[kIndexHeaderBytes] = {};  // written for real when the counts are known
  index_->write(header, sizeof header);
}

TokenFileWriter::~TokenFileWriter() = default;

void TokenFileWriter::append(const int32_t* ids, int64_t count) {
  const auto limit = size_t(TokenFileMeta::kChunkBytes), item = size_t(size_of(type_));
  for (int64_t i = 0; i < count;) {
    const auto room = int64_t((limit - chunk_.size()) / item);
    const int64_t n = std::min(room, count - i);
    const size_t at = chunk_.size();
    chunk_.resize(at + size_t(n) * item);
    if (type_ == TokenType::u16) {
      for (int64_t k = 0; k < n; ++k) {
        const auto id = uint16_t(ids[i + k]);
        std::memcpy(&chunk_[at + size_t(k) * 2], &id, 2);
      }
    } else {
      std::memcpy(&chunk_[at], ids + i, size_t(n) * 4);
    }
    i += n;
    if (chunk_.size() == limit) flush_bin();
  }
  num_tokens_ += count;
  document_tokens_ += count;
}

void TokenFileWriter::flush_bin() {
  hashes_.push_back(content_hash(chunk_.data(), chunk_.size()));
  bin_->write(chunk_.data(), chunk_.size());
  chunk_.clear();
}

void TokenFileWriter::end_document() {
  if (document_tokens_ > INT32_MAX) {
    throw UserError(Problem{fmt::format("document {} has {} tokens", num_documents_, document_tokens_),
                            prefix_, "", "at most 2147483647 tokens a document, by the format of the index",
                            "cut the text into several documents"});
  }
  const auto size = int32_t(document_tokens_);
  index_->write(&size, sizeof size);
  document_tokens_ = 0;
  ++num_documents_;
}

// The sizes are in the file already; pointers are their running sums, doc_idx counts up.
void TokenFileWriter::write_index() {
  constexpr int64_t kBlock = 65536;
  const int64_t item = size_of(type_);
  std::vector<int32_t> sizes(size_t(std::min(kBlock, num_documents_)));
  std::vector<int64_t> block;
  int64_t pointer = 0;
  for (int64_t first = 0; first < num_documents_; first += kBlock) {
    const auto n = size_t(std::min(kBlock, num_documents_ - first));
    index_->read_at(kIndexHeaderBytes + 4 * first, sizes.data(), n * 4);
    block.clear();
    for (size_t i = 0; i < n; ++i) {
      block.push_back(pointer);
      pointer += sizes[i] * item;
    }
    index_->write(block.data(), n * 8);
  }
  for (int64_t i = 0; i <= num_documents_; ++i) index_->write(&i, sizeof i);

  char header[kIndexHeaderBytes];
  const uint64_t version = 1, sequences = uint64_t(num_documents_), documents = sequences + 1;
  std::memcpy(header, kIndexMagic, 9);
  std::memcpy(header + 9, &version, 8);
  header[17] = char(type_);
  std::memcpy(header + 18, &sequences, 8);
  std::memcpy(header + 26, &documents, 8);
  index_->write_at(0, header, sizeof header);
}

void TokenFileWriter::finish() {
  if (document_tokens_ > 0) end_document();
  if (!chunk_.empty()) flush_bin();
  write_index();
  bin_->sync();
  index_->sync();

  TokenFileMeta meta;
  meta.documents = num_documents_;
  meta.tokens = num_tokens_;
  meta.vocab_size = source_.vocab_size;
  meta.tokenizer = source_.tokenizer;
  meta.end_of_document = source_.end_of_document;
  meta.chunk_hashes = hashes_;
  {
    const MappedFile written(index_->temporary_path());
    meta.index_hash = content_hash(written.bytes().data(), written.bytes().size());
  }
  OutputFile sidecar(prefix_ + ".meta.json");
  const std::string text = to_json(meta);
  sidecar.write(text.data(), text.size());
  sidecar.sync();

  // Without its index a pair does not exist: between these lines a crash leaves no mixture of old and new.
  std::filesystem::remove(prefix_ + ".idx");
  bin_->publish();
  sidecar.publish();
  index_->publish();
  sync_folder_of(prefix_);
}

}  // namespace shoal
