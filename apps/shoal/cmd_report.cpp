#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/whole_file.h"
#include "report/page.h"
#include "shoal/build_info.h"
#include "shoal/commands.h"

namespace shoal {

namespace {

// "unigram entropy=6.91"
report::Mark parse_mark(const std::string& text) {
  const size_t equals = text.rfind('=');
  report::Mark mark{text.substr(0, equals), 0};
  const char* begin = equals == std::string::npos ? text.data() + text.size() : text.data() + equals + 1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, mark.value);
  if (error != std::errc() || rest != end || mark.label.empty()) {
    throw UserError(Problem{.what = "a mark needs a name and a number",
                            .where = "command line",
                            .value = "--mark " + text,
                            .allowed = "NAME=VALUE",
                            .hint = "for example --mark 'unigram entropy=6.91'"});
  }
  return mark;
}

int run_report(const Invocation& given) {
  std::vector<report::RunLog> runs;
  for (const auto& folder : given.all("RUN")) runs.push_back(report::read_run(folder));
  report::PageOptions options;
  options.title = given.text("--title");
  for (const auto& text : given.all("--mark")) options.loss_marks.push_back(parse_mark(text));
  options.program = "shoal " + version();

  const std::filesystem::path beside = std::filesystem::path(runs[0].folder) / "report.html";
  const std::filesystem::path path =
      given.text("--output", runs.size() == 1 ? beside.string() : "report.html");
  write_whole_file(path, report::report_page(runs, options));
  std::printf("%s\n", path.c_str());
  return 0;
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .summary = "write one HTML page about a run, or about several side by side",
      .description =
          "The page holds charts, the numbers that matter, the resolved spec, the environment and samples of "
          "text. It needs no network and no other file.",
      .arguments =
          {{.name = "RUN", .doc = "A run's folder.", .completes = Completes::folder, .repeated = true}},
      .flags = {{.name = "--output",
                 .value = "FILE",
                 .doc = "Where the page goes: RUN/report.html, or report.html for several runs.",
                 .completes = Completes::file},
                {.name = "--title", .value = "TEXT", .doc = "The page's title; the runs' names otherwise."},
                {.name = "--mark",
                 .value = "NAME=VALUE",
                 .doc = "A level to draw in the charts of losses.",
                 .repeated = true}},
      .examples = {{"shoal report runs/demo", "Write runs/demo/report.html."},
                   {"shoal report runs/a runs/b --output compare.html", "Overlay two runs."}},
      .run = run_report,
  };
}

}  // namespace shoal
