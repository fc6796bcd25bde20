#include "data/bpe/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <utility>

#include "base/error.h"

namespace shoal {

namespace {

// PCRE2 counts U+180E as white space and other engines do not: spell the class out.
std::string with_unicode_white_space(const std::string& expression) {
  std::string result;
  for (size_t i = 0; i < expression.size(); ++i) {
    result += expression[i];
    if (expression[i] != '\\' || i + 1 == expression.size()) continue;
    const char escaped = expression[++i];
    if (escaped == 's') {
      result += "p{White_Space}";
    } else if (escaped == 'S') {
      result += "P{White_Space}";
    } else {
      result += escaped;
    }
  }
  return result;
}

std::string message_of(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

constexpr size_t kJitStackBytes = 4 << 20;

}  // namespace

struct Pattern::Code {
  pcre2_code* code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

struct Pattern::State::Data {
  pcre2_match_data* match = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr);
  Data() { pcre2_jit_stack_assign(context, nullptr, stack); }
  ~Data() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
  }
};

Pattern::State::State() : data_(std::make_unique<Data>()) {}
Pattern::State::~State() = default;
Pattern::State::State(State&&) noexcept = default;
Pattern::State& Pattern::State::operator=(State&&) noexcept = default;

Pattern::Pattern(const std::string& expression) : code_(std::make_unique<Code>()) {
  const std::string spelled = with_unicode_white_space(expression);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  if (code_->code == nullptr) {
    throw UserError(
        Problem{fmt::format("the regular expression is not understood at {}: {}", offset, message_of(error)),
                "", expression, "", ""});
  }
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);  // without it matching is only slower
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

bool Pattern::find(std::string_view text, size_t from, State& state, Match& match) const {
  pcre2_match_data* data = state.data_->match;
  const int found = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data, state.data_->context);
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) runtime_failure("the regular expression of the tokenizer fails: {}", message_of(found));
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data);
  match = {ends[0], ends[1]};
  return true;
}

}  // namespace shoal
