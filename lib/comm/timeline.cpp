#include "comm/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shoal {

namespace {

int64_t nanoseconds(Timeline::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// Labels are ours, so that quotes and backslashes are all that could disturb a reader.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c < ' ' ? ' ' : c;
  }
  return out + "\"";
}

// A comma or a quote would end a field of the CSV.
std::string field(std::string text) {
  for (char& c : text) {
    if (c == ',' || c == '"' || c < ' ') c = ' ';
  }
  return text;
}

}  // namespace

Timeline::Timeline(int64_t max_spans) : owner_(std::this_thread::get_id()), max_spans_(size_t(max_spans)) {}

int32_t Timeline::id_of(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  names_.emplace_back(name);
  return ids_[names_.back()] = int32_t(names_.size()) - 1;
}

void Timeline::add(const Span& span) {
  if (spans_.size() < max_spans_) {
    spans_.push_back(span);
  } else {
    ++left_out_;
  }
}

void Timeline::add(std::string_view name, Time begin, Time end) {
  if (!on_ || std::this_thread::get_id() != owner_) return;
  const std::lock_guard lock(mutex_);
  add({nanoseconds(begin), nanoseconds(end), id_of(name), 0, 0});
}

void Timeline::finished(const CollectiveSpan& span) {
  if (!on_) return;
  add(fmt::format("wait {}", span.label), span.waited, span.done);
  const std::lock_guard lock(mutex_);
  add({nanoseconds(span.called), nanoseconds(span.done), id_of(span.label), 1, span.ring_bytes});
}

// In order of their beginnings, an outer span before those in it. Collectives that overlap get threads of
// their own, the lowest free one each.
std::vector<Timeline::Span> Timeline::laid_out() const {
  const std::lock_guard lock(mutex_);
  std::vector<Span> spans = spans_;
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<int64_t> free_from;  // by thread, the end of its last collective
  for (Span& span : spans) {
    if (span.thread == 0) continue;
    const auto lane =
        std::find_if(free_from.begin(), free_from.end(), [&](int64_t end) { return end <= span.begin; });
    span.thread = int32_t(lane - free_from.begin()) + 1;
    if (lane == free_from.end()) {
      free_from.push_back(span.end);
    } else {
      *lane = span.end;
    }
  }
  return spans;
}

std::string Timeline::to_json(int rank, const std::string& process, std::chrono::nanoseconds offset) const {
  const std::vector<Span> spans = laid_out();
  int threads = 1;
  for (const Span& span : spans) threads = std::max(threads, span.thread + 1);
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  const auto metadata = [&](const char* what, int thread, const std::string& name) {
    fmt::format_to(to,
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}},)"
                   "\n",
                   what, rank, thread, quoted(name));
  };
  metadata("process_name", 0, process);
  for (int t = 0; t < threads; ++t)
    metadata("thread_name", t, t == 0 ? "compute" : fmt::format("communication {}", t));
  for (const Span& span : spans) {
    fmt::format_to(to, R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f})",
                   quoted(names_[size_t(span.name)]), span.thread == 0 ? "compute" : "communication", rank,
                   span.thread, double(span.begin + offset.count()) / 1e3,
                   double(span.end - span.begin) / 1e3);
    if (span.thread > 0) fmt::format_to(to, R"(,"args":{{"bytes":{:.0f}}})", span.bytes);
    fmt::format_to(to, "}},\n");
  }
  return fmt::to_string(out);
}

std::string Timeline::csv_heading() {
  return "Timestamp (ns), Event Type, Name, Process, Thread, bytes, Attributes\n";
}

std::string Timeline::to_csv(int rank, std::chrono::nanoseconds offset) const {
  struct Row {
    int64_t time;
    bool enter;
    const Span* span;
  };
  const std::vector<Span> spans = laid_out();
  std::map<int32_t, std::vector<Row>> rows;
  std::map<int32_t, std::vector<const Span*>> open;
  const auto leave = [&](int32_t thread, int64_t until) {
    auto& stack = open[thread];
    while (!stack.empty() && stack.back()->end <= until) {
      rows[thread].push_back({stack.back()->end, false, stack.back()});
      stack.pop_back();
    }
  };
  for (const Span& span : spans) {
    leave(span.thread, span.begin);
    rows[span.thread].push_back({span.begin, true, &span});
    open[span.thread].push_back(&span);
  }
  std::vector<Row> merged;
  for (auto& [thread, of_thread] : rows) {
    leave(thread, INT64_MAX);
    merged.insert(merged.end(), of_thread.begin(), of_thread.end());
  }
  std::stable_sort(merged.begin(), merged.end(), [](const Row& a, const Row& b) { return a.time < b.time; });

  fmt::memory_buffer out;
  std::map<int32_t, double> sent;  // by thread; thread 0: by all
  int64_t last = INT64_MIN;
  for (const Row& row : merged) {
    const int32_t thread = row.span->thread;
    if (!row.enter && thread > 0) {
      sent[thread] += row.span->bytes;
      sent[0] += row.span->bytes;
    }
    last = std::max(row.time + offset.count(), last + 1);
    fmt::format_to(std::back_inserter(out), "{}, {}, {}, {}, {}, {:.0f},\n", last,
                   row.enter ? "Enter" : "Leave", field(names_[size_t(row.span->name)]), rank, thread,
                   sent[thread]);
  }
  return fmt::to_string(out);
}

}  // namespace shoal
