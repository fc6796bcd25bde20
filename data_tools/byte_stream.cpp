#include "data_tools/byte_stream.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace shoal {

namespace {

constexpr size_t kBufferBytes = 1 << 18;

[[noreturn]] void damaged(const std::string& path, int64_t byte, const std::string& what) {
  throw RuntimeFailure(
      Problem{what, fmt::format("{}: byte {}", path, byte), "", "", "the file is damaged or cut off"});
}

// A file with a buffer in front, whose bytes can be looked at before they are taken.
class RawFile {
 public:
  explicit RawFile(const std::string& path)
      : path_(path == "-" ? "standard input" : path), buffer_(kBufferBytes) {
    fd_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0)
      throw UserError(Problem{std::string("cannot be opened: ") + std::strerror(errno), path_, "", "", ""});
  }
  ~RawFile() { ::close(fd_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::string& path() const { return path_; }
  int64_t consumed() const { return consumed_ - int64_t(end_ - begin_); }
  const char* data() const { return buffer_.data() + begin_; }
  size_t available() const { return end_ - begin_; }
  void take(size_t bytes) { begin_ += bytes; }

  // Reads until `wanted` bytes are there or the file ends; returns how many are.
  size_t fill(size_t wanted) {
    if (available() >= wanted) return available();
    std::memmove(buffer_.data(), data(), available());
    end_ = available();
    begin_ = 0;
    while (end_ < wanted) {
      const ssize_t n = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        throw RuntimeFailure(
            Problem{std::string("cannot be read: ") + std::strerror(errno), path_, "", "", ""});
      }
      if (n == 0) break;
      end_ += size_t(n);
      consumed_ += n;
    }
    return available();
  }

 private:
  std::string path_;
  int fd_ = -1;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t consumed_ = 0;
};

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  int64_t consumed() const override { return file_->consumed(); }
  size_t read(char* to, size_t size) override {
    const size_t n = std::min(file_->fill(1), size);
    std::memcpy(to, file_->data(), n);
    file_->take(n);
    return n;
  }

 private:
  std::unique_ptr<RawFile> file_;
};

class GzipStream : public ByteStream {
 public:
  explicit GzipStream(std::unique_ptr<RawFile> file) : file_(std::move(file)) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&state_, kGzipOnly) != Z_OK) runtime_failure("zlib cannot be started");
  }
  ~GzipStream() override { inflateEnd(&state_); }
  int64_t consumed() const override { return file_->consumed(); }

  size_t read(char* to, size_t size) override {
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = uInt(size);
    while (state_.avail_out == size) {
      const size_t here = file_->fill(1);
      if (here == 0) {
        if (between_members_) return 0;
        damaged(file_->path(), file_->consumed(), "ends in the middle of gzip data");
      }
      between_members_ = false;
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file_->data()));
      state_.avail_in = uInt(here);
      const int result = inflate(&state_, Z_NO_FLUSH);
      file_->take(here - state_.avail_in);
      if (result == Z_STREAM_END) {
        between_members_ = true;
        inflateReset(&state_);
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        damaged(file_->path(), file_->consumed(),
                fmt::format("is not valid gzip data: {}", state_.msg != nullptr ? state_.msg : "broken"));
      }
    }
    return size - state_.avail_out;
  }

 private:
  std::unique_ptr<RawFile> file_;
  z_stream state_{};
  bool between_members_ = false;
};

class ZstdStream : public ByteStream {
 public:
  explicit ZstdStream(std::unique_ptr<RawFile> file) : file_(std::move(file)), state_(ZSTD_createDStream()) {}
  ~ZstdStream() override { ZSTD_freeDStream(state_); }
  int64_t consumed() const override { return file_->consumed(); }

  size_t read(char* to, size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      const size_t here = file_->fill(1);
      ZSTD_inBuffer in{file_->data(), here, 0};
      // Output may still be waiting inside when the input is used up.
      const size_t result = ZSTD_decompressStream(state_, &out, &in);
      if (ZSTD_isError(result) != 0) {
        damaged(file_->path(), file_->consumed(),
                fmt::format("is not valid zstd data: {}", ZSTD_getErrorName(result)));
      }
      file_->take(in.pos);
      if (here == 0 && out.pos == 0) {
        if (between_frames_) return 0;
        damaged(file_->path(), file_->consumed(), "ends in the middle of zstd data");
      }
      between_frames_ = result == 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<RawFile> file_;
  ZSTD_DStream* state_;
  bool between_frames_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> open_stream(const std::string& path) {
  auto file = std::make_unique<RawFile>(path);
  const size_t here = file->fill(4);
  const auto starts_with = [&](std::string_view magic) {
    return std::string_view(file->data(), here).starts_with(magic);
  };
  if (starts_with("\x1f\x8b")) return std::make_unique<GzipStream>(std::move(file));
  if (starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdStream>(std::move(file));
  return std::make_unique<PlainStream>(std::move(file));
}

}  // namespace shoal
