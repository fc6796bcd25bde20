#include "comm/mpi.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <thread>

#include "base/error.h"
#include "comm/reduce.h"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

void check(int status, std::string_view label) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  runtime_failure("MPI failed in {}: {}", label, std::string(text, size_t(length)));
}

// Large counts: MPI counts are int, so bytes go in units that keep the count small.
struct Extent {
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
  bool owned = false;

  explicit Extent(int64_t bytes) {
    constexpr int64_t limit = 1 << 30;
    if (bytes <= limit) {
      count = int(bytes);
      return;
    }
    const int64_t whole = bytes / limit, rest = bytes % limit;
    MPI_Datatype chunk, blocks;
    MPI_Type_contiguous(int(limit), MPI_BYTE, &chunk);
    MPI_Type_contiguous(int(whole), chunk, &blocks);
    const int lengths[2] = {1, int(rest)};
    const MPI_Aint at[2] = {0, MPI_Aint(whole * limit)};
    const MPI_Datatype types[2] = {blocks, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&chunk);
    MPI_Type_free(&blocks);
    count = 1;
    owned = true;
  }
  ~Extent() {
    if (owned) MPI_Type_free(&type);
  }
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;
};

// A number of bytes as one element of a type.
struct Unit {
  explicit Unit(int64_t bytes) {
    const Extent extent(bytes);
    MPI_Type_contiguous(extent.count, extent.type, &type);
    MPI_Type_commit(&type);
  }
  ~Unit() { MPI_Type_free(&type); }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// A collective as a list of MPI requests and local steps, each started when the one before it is complete.
class Sequence : public Request::State {
 public:
  using Start = std::function<void(MPI_Request*)>;

  Sequence(std::string label, const MpiSession& session, const MpiOptions& options, std::vector<Start> steps)
      : label_(std::move(label)), session_(session), options_(options), steps_(std::move(steps)) {
    advance();
  }
  // The buffers of a collective under way must outlive it. An exception that drops it ends all ranks soon,
  // and others may never join: nothing waits for them then.
  ~Sequence() override {
    try {
      if (std::uncaught_exceptions() > 0) session_.give_up();
      if (!session_.given_up()) wait();
    } catch (const std::exception&) {
    }
  }

  void wait() override {
    const auto begin = Clock::now();
    for (int64_t polls = 0; !done(); ++polls) {
      sched_yield();
      const bool look = polls % 1024 == 1023;
      if (look && std::chrono::duration<double>(Clock::now() - begin).count() > options_.timeout_seconds) {
        session_.give_up();
        runtime_failure("the collective {} did not finish within {} s; {}", label_, options_.timeout_seconds,
                        options_.blame ? options_.blame() : "a rank may have failed or fallen behind");
      }
    }
  }

 private:
  bool done() {
    int complete = 0;
    check(MPI_Test(&request_, &complete, MPI_STATUS_IGNORE), label_);
    if (complete) advance();
    return request_ == MPI_REQUEST_NULL && next_ == steps_.size();
  }
  void advance() {
    while (request_ == MPI_REQUEST_NULL && next_ < steps_.size()) steps_[next_++](&request_);
  }

  std::string label_;
  const MpiSession& session_;
  const MpiOptions& options_;
  std::vector<Start> steps_;
  size_t next_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

std::byte* bytes(const View& view) {
  return static_cast<std::byte*>(view.data);
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(const MpiSession& session, MPI_Comm comm, std::string name, MpiOptions options)
      : session_(session), comm_(comm), name_(std::move(name)), options_(std::move(options)) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiCommunicator() override {
    if (!session_.given_up()) MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // Small: everybody gathers everything and sums. Large: an all-to-all gives each rank one part of every
  // other's data, it sums them in rank order, and an all-gather hands the results out: the bytes of a ring,
  // summed in a fixed order and, for bf16, in f32.
  Request all_reduce(const View& data, Reduce op, std::string_view label) override {
    SHOAL_CHECK(data.contiguous());
    if (size_ == 1 || data.numel() == 0) return {};
    if (data.bytes() <= 16384) return gather_and_reduce(data, op, label);
    const auto parts = std::make_shared<const Parts>(data, rank_, size_);
    const View copy = data;
    auto [exchange, sum] = exchange_and_reduce(data, parts->place(data), parts, op);
    auto gather = [=, this](MPI_Request* request) {
      check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, copy.data, parts->sizes.data(),
                            parts->offsets.data(), parts->type(), comm_, request),
            "all-gather");
    };
    return start(label, {exchange, sum, gather});
  }

  Request all_gather(const View& in, const View& out, std::string_view label) override {
    SHOAL_CHECK(in.contiguous() && out.contiguous() && out.numel() == in.numel() * size_);
    return start(label, {[=, this](MPI_Request* request) {
                   const Extent part(in.bytes());
                   const bool in_place = in.data == bytes(out) + rank_ * in.bytes();
                   check(MPI_Iallgather(in_place ? MPI_IN_PLACE : in.data, part.count, part.type, out.data,
                                        part.count, part.type, comm_, request),
                         "all-gather");
                 }});
  }

  Request reduce_scatter(const View& in, const View& out, Reduce op, std::string_view label) override {
    SHOAL_CHECK(in.contiguous() && out.contiguous() && in.numel() == out.numel() * size_);
    if (in.numel() == 0) return {};
    auto [exchange, sum] =
        exchange_and_reduce(in, bytes(out), std::make_shared<const Parts>(in, rank_, size_), op);
    return start(label, {exchange, sum});
  }

  Request broadcast(const View& data, int root, std::string_view label) override {
    SHOAL_CHECK(data.contiguous());
    return start(label, {[=, this](MPI_Request* request) {
                   const Extent all(data.bytes());
                   check(MPI_Ibcast(data.data, all.count, all.type, root, comm_, request), "broadcast");
                 }});
  }

  Request all_to_all(const View& in, const View& out, std::string_view label) override {
    SHOAL_CHECK(in.contiguous() && out.contiguous() && in.bytes() == out.bytes() && in.numel() % size_ == 0);
    return start(label, {[=, this](MPI_Request* request) {
                   const Extent part(in.bytes() / size_);
                   check(MPI_Ialltoall(in.data, part.count, part.type, out.data, part.count, part.type, comm_,
                                       request),
                         "all-to-all");
                 }});
  }

  Request send(const View& data, int to, std::string_view label) override {
    SHOAL_CHECK(data.contiguous());
    return start(label, {[=, this](MPI_Request* request) {
                   const Extent all(data.bytes());
                   check(MPI_Isend(data.data, all.count, all.type, to, 0, comm_, request), "send");
                 }});
  }

  Request recv(const View& data, int from, std::string_view label) override {
    SHOAL_CHECK(data.contiguous());
    return start(label, {[=, this](MPI_Request* request) {
                   const Extent all(data.bytes());
                   check(MPI_Irecv(data.data, all.count, all.type, from, 0, comm_, request), "recv");
                 }});
  }

  void barrier(std::string_view label) override {
    start(label, {[this](MPI_Request* request) { check(MPI_Ibarrier(comm_, request), "barrier"); }}).wait();
  }

 private:
  // A buffer cut into one part a rank, uneven by one element at most, counted in units that MPI's ints can
  // hold: parts where those are equal, elements otherwise.
  struct Parts {
    Parts(const View& whole, int rank, int ranks)
        : unit_bytes(whole.numel() % ranks == 0 ? whole.bytes() / ranks : size_of(whole.dtype)),
          unit(unit_bytes) {
      const int64_t units = whole.bytes() / unit_bytes;
      if (units > INT32_MAX) {
        runtime_failure("a collective of {} elements is above MPI's limit of 2^31 - 1", whole.numel());
      }
      for (int r = 0; r < ranks; ++r) {
        const int64_t first = units * r / ranks, last = units * (r + 1) / ranks;
        offsets.push_back(int(first));
        sizes.push_back(int(last - first));
      }
      mine = sizes[size_t(rank)];
      for (int r = 0; r < ranks; ++r) {
        others.push_back(r == rank ? 0 : sizes[size_t(r)]);
        arriving.push_back(r == rank ? 0 : mine);
        arriving_at.push_back((r < rank ? r : r - 1) * mine);
      }
      arriving_at[size_t(rank)] = 0;
      place_bytes = offsets[size_t(rank)] * unit_bytes;
    }
    MPI_Datatype type() const { return unit.type; }
    int64_t mine_bytes() const { return mine * unit_bytes; }
    // This rank's part of the whole.
    std::byte* place(const View& whole) const { return bytes(whole) + place_bytes; }

    int64_t unit_bytes, place_bytes = 0;
    Unit unit;
    int mine = 0;
    std::vector<int> sizes, offsets;                 // of all parts
    std::vector<int> others, arriving, arriving_at;  // what goes out, and comes in, but for this rank's own
  };

  // Each rank gets its part of everybody's data, and sums them, its own where it lies, in rank order.
  std::array<Sequence::Start, 2> exchange_and_reduce(const View& in, std::byte* out,
                                                     const std::shared_ptr<const Parts>& parts, Reduce op) {
    const auto scratch =
        std::make_shared_for_overwrite<std::byte[]>(size_t(parts->mine_bytes() * (size_ - 1)));
    auto exchange = [=, this](MPI_Request* request) {
      check(MPI_Ialltoallv(in.data, parts->others.data(), parts->offsets.data(), parts->type(), scratch.get(),
                           parts->arriving.data(), parts->arriving_at.data(), parts->type(), comm_, request),
            "all-to-all");
    };
    auto sum = [=, this](MPI_Request*) {
      std::vector<const void*> addends;
      for (int r = 0; r < size_; ++r) {
        const int64_t before = r < rank_ ? r : r - 1;
        addends.push_back(r == rank_ ? parts->place(in) : scratch.get() + before * parts->mine_bytes());
      }
      reduce_parts(addends, out, parts->mine_bytes() / size_of(in.dtype), in.dtype, op);
    };
    return {exchange, sum};
  }

  Request gather_and_reduce(const View& data, Reduce op, std::string_view label) {
    auto scratch = std::make_shared<std::vector<std::byte>>(size_t(data.bytes() * size_));
    const View copy = data;
    auto gather = [=, this](MPI_Request* request) {
      check(MPI_Iallgather(copy.data, int(copy.bytes()), MPI_BYTE, scratch->data(), int(copy.bytes()),
                           MPI_BYTE, comm_, request),
            "all-gather");
    };
    auto sum = [=, this](MPI_Request*) {
      std::vector<const void*> parts;
      for (int r = 0; r < size_; ++r) parts.push_back(scratch->data() + r * copy.bytes());
      reduce_parts(parts, copy.data, copy.numel(), copy.dtype, op);
    };
    return start(label, {gather, sum});
  }

  Request start(std::string_view label, std::vector<Sequence::Start> steps) {
    return Request(std::make_unique<Sequence>(fmt::format("{} ({} group)", label, name_), session_, options_,
                                              std::move(steps)));
  }

  const MpiSession& session_;
  MPI_Comm comm_;
  std::string name_;
  MpiOptions options_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

MpiSession::MpiSession() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &local_size_);
  MPI_Comm_free(&host);
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

void MpiSession::abort(int exit_code) {
  // A launcher may end a process before it has read what the process has just printed.
  std::fflush(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

void MpiSession::fail(int exit_code, const std::string& message) const {
  // Each rank gives those before it the time to speak and to end everybody.
  std::this_thread::sleep_for(std::chrono::milliseconds(700) * std::min(rank_, 8));
  std::fprintf(stderr, "shoal: error on rank %d: %s\n", rank_, message.c_str());
  abort(exit_code);
}

std::unique_ptr<Communicator> make_mpi_communicator(const MpiSession& session, int color, int key,
                                                    const std::string& name, const MpiOptions& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm), "the split of the world");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return std::make_unique<MpiCommunicator>(session, comm, name, options);
}

}  // namespace shoal
