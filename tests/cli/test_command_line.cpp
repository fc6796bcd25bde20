// What a user sees of the program: messages, exit codes, help, completion, the manual.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "cli/run_shoal.h"
#include "temp_folder.h"

using namespace shoal::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The words of the "Commands:" table of a help text.
std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find("\nCommands:\n"), help.size())));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && line.rfind("  ", 0) == 0) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

void check_help(const std::string& command, int depth) {
  CAPTURE(command);
  const Result result = run_shell(command + " --help");
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(result.out.rfind(command + ": ", 0) == 0);
  CHECK(contains(result.out, "\nUsage: " + command));
  CHECK(contains(result.out, "--help"));
  const std::vector<std::string> children = commands_in(result.out);
  if (depth == 0) CHECK(children.size() >= 4);
  for (const std::string& child : children) check_help(command + " " + child, depth + 1);
}

}  // namespace

TEST_CASE("a mistyped key is reported with its place and the key that was meant") {
  const TempFolder folder;
  std::ofstream(folder / "a.yaml") << "version: 1\nbatch:\n  micor: 4\n";
  const Result result = run_shell("shoal show a.yaml", folder.path());
  CHECK(result.exit_code == 2);
  CHECK(result.out == "");
  CHECK(result.err ==
        "shoal: error: a.yaml:3:3: unknown key batch.micor (got: 4)\n"
        "    3 |   micor: 4\n"
        "      |   ^\n"
        "  allowed: the keys of batch: global, micro\n"
        "  hint: did you mean batch.micro?\n");
}

TEST_CASE("a value out of range on the command line is reported with the word that holds it") {
  const Result result = run_shell("shoal show batch.micro=0");
  CHECK(result.exit_code == 2);
  CHECK(result.err ==
        "shoal: error: override 'batch.micro=0': batch.micro is out of range (got: 0)\n"
        "  allowed: an integer, 1 or more\n");
}

TEST_CASE("several mistakes and a missing file are reported in one run, in the order of the file") {
  const TempFolder folder;
  std::ofstream(folder / "a.yaml")
      << "model:\n  num_attention_heads: 7\n  hidden_size: 512\n"
         "data:\n  tokenizer: byte\n  train: [{path: corpus}]\nrun: {steps: many}\n";
  const Result result = run_shell("shoal check a.yaml", folder.path());
  CHECK(result.exit_code == 2);
  const size_t first = result.err.find("a.yaml:2:24: the heads do not divide the hidden size evenly");
  const size_t second = result.err.find("a.yaml:6:10: there are no corpus.bin and corpus.idx");
  const size_t third = result.err.find("a.yaml:7:14: run.steps must be an integer (got: many)");
  CAPTURE(result.err);
  CHECK(contains(result.err, "3 problems in the run spec"));
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != std::string::npos);
}

TEST_CASE("mistakes on the command line exit with 2, name the near word and say how to get help") {
  const Result command = run_shell("shoal shwo");
  CHECK(command.exit_code == 2);
  CHECK(contains(command.err, "unknown command 'shwo'"));
  CHECK(contains(command.err, "did you mean show?"));
  CHECK(contains(command.err, "shoal --help"));

  const Result flag = run_shell("shoal show --schemo");
  CHECK(flag.exit_code == 2);
  CHECK(contains(flag.err, "unknown flag --schemo"));
  CHECK(contains(flag.err, "did you mean --schema?"));

  const Result missing = run_shell("shoal completion");
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "missing SHELL"));

  const Result extra = run_shell("shoal man now");
  CHECK(extra.exit_code == 2);
  CHECK(contains(extra.err, "unexpected argument 'now'"));

  CHECK(run_shell("shoal").exit_code == 2);
  CHECK(run_shell("shoal show no-such-file.yaml").exit_code == 2);
  CHECK(run_shell("shoal show .").exit_code == 2);
}

TEST_CASE("every command has help") {
  check_help("shoal", 0);
}

TEST_CASE("the version tells how the program was built") {
  const Result result = run_shell("shoal --version");
  CHECK(result.exit_code == 0);
  for (const char* fact :
       {"commit", "compiler", "build type", "MPI", "HDF5", "oneDNN", "CPU compiled", "CPU found"}) {
    CHECK(contains(result.out, fact));
  }
}

TEST_CASE("check prints the size of a published shape") {
  const Result result = run_shell("shoal check --no-files model.preset=pythia-1.4b");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "1,414,647,808"));
  CHECK(contains(result.out, "weight decay 0.1 on matrices and embeddings"));
}

TEST_CASE("what show prints is read back to the same text") {
  const TempFolder folder;
  const Result first = run_shell("shoal show --plain model.preset=pythia-70m > '" + folder / "a.yaml" + "'");
  CHECK(first.exit_code == 0);
  CHECK(run_shell("shoal show --plain a.yaml | cmp - a.yaml", folder.path()).exit_code == 0);
  CHECK(run_shell("shoal show a.yaml > b.yaml && shoal show --plain b.yaml | cmp - a.yaml", folder.path())
            .exit_code == 0);
}

TEST_CASE("the bash completion is a valid script and completes keys and values") {
  CHECK(run_shell("shoal completion bash | bash -n").exit_code == 0);
  const std::string setup = "source <(shoal completion bash); compopt() { :; }; ";
  const auto complete = [&](const std::string& words) {
    const Result result =
        run_shell(setup + "COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); " +
                  "_shoal; echo ${COMPREPLY[*]}");
    CHECK(result.err == "");
    return result.out;
  };
  CHECK(complete("shoal comp") == "completion\n");
  CHECK(complete("shoal show optimizer.be") == "optimizer.betas=\n");
  CHECK(complete("shoal show precision.compute = b") == "bf16\n");
  CHECK(complete("shoal show --ref") == "--reference\n");
  CHECK(complete("shoal completion z") == "zsh\n");
  CHECK(complete("shoal show configs/dem") == "configs/demo.yaml\n");
}

TEST_CASE("the zsh completion is a valid script" * doctest::skip(!has_program("zsh"))) {
  CHECK(run_shell("shoal completion zsh | zsh -n /dev/stdin").exit_code == 0);
}

TEST_CASE("the manual page renders without complaint" * doctest::skip(!has_program("man"))) {
  const Result result = run_shell("shoal man > /dev/null && shoal man | MANWIDTH=80 man --warnings -l - ");
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(contains(result.out, "EXIT STATUS"));
  CHECK(contains(result.out, "optimizer.weight_decay"));
  CHECK(contains(result.out, "shoal show"));
}
