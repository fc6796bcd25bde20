#include "data_tools/jsonl.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace shoal {

namespace {

using Json = nlohmann::json;

// Takes one string out of an object while it is parsed; nothing else is kept.
class FindText : public nlohmann::json_sax<Json> {
 public:
  FindText(std::string_view key, std::string& text, JsonLineError& error)
      : key_(key), text_(text), error_(error) {}

  bool found() const { return found_; }
  bool is_object() const { return is_object_; }
  bool is_wanted_of_other_type() const { return wrong_type_; }

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& value) override {
    if (depth_ == 1 && wanted_) {
      text_.swap(value);
      found_ = true;
    }
    wanted_ = false;
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ == 0) is_object_ = true;
    return enter();
  }
  bool start_array(size_t) override { return enter(); }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& name) override {
    wanted_ = depth_ == 1 && is_object_ && name == key_;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    error_ = {"is not valid JSON", position > 0 ? position - 1 : 0};
    return false;
  }

 private:
  bool other() {
    wrong_type_ |= depth_ == 1 && wanted_;
    wanted_ = false;
    return true;
  }
  bool enter() {
    other();
    ++depth_;
    return true;
  }

  std::string_view key_;
  std::string& text_;
  JsonLineError& error_;
  int depth_ = 0;
  bool is_object_ = false, wanted_ = false, found_ = false, wrong_type_ = false;
};

}  // namespace

bool read_json_line(std::string_view line, std::string_view key, std::string& text, JsonLineError& error) {
  FindText handler(key, text, error);
  if (!Json::sax_parse(line.begin(), line.end(), &handler)) return false;
  if (handler.found()) return true;
  error.byte = 0;
  if (!handler.is_object()) {
    error.what = "is not a JSON object";
  } else if (handler.is_wanted_of_other_type()) {
    error.what = fmt::format("has no string at the key \"{}\"", key);
  } else {
    error.what = fmt::format("has no key \"{}\"", key);
  }
  return false;
}

}  // namespace shoal
