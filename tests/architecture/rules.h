// The rules of the house in one place: who may include whom, which library may be seen where, how long a file
// may be.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shoal::architecture {

// Folder -> the folders it may include and link directly. What those may reach, it may reach too. Every edge
// points upwards in this table.
using Edges = std::vector<std::pair<std::string, std::set<std::string>>>;
inline const Edges allowed_edges = {
    {"base", {}},
    {"tensor", {"base"}},
    {"device", {"tensor"}},
    {"ops", {"device"}},
    {"comm", {"device", "ops"}},
    {"grid", {"comm"}},
    {"spec", {"base"}},
    {"layers", {"ops", "comm", "grid"}},
    {"model", {"layers", "spec"}},
    {"optim", {"model"}},
    {"data", {"grid", "spec"}},
    {"eval", {"model", "data"}},
    {"checkpoint", {"model", "spec"}},
    {"hf", {"model", "data", "checkpoint"}},
    {"train", {"optim", "data", "checkpoint"}},
    {"cluster", {"spec"}},
    {"laws", {"grid", "spec"}},
    {"report", {"laws", "spec"}},
    {"sweep", {"model", "checkpoint", "report"}},
    {"data_tools", {"data"}},
    {"apps", {"train", "hf", "eval", "report", "sweep", "cluster", "laws", "data_tools"}},
};

// A library's headers (by the start of the included name) -> the folders that may include them.
inline const std::map<std::string, std::set<std::string>> confined_headers = {
    {"hdf5", {"checkpoint"}},
    {"H5", {"checkpoint"}},
    {"yaml-cpp/", {"spec"}},
    {"CLI/", {"apps"}},
    {"mpi.h", {"comm"}},
    {"dnnl", {"ops"}},
    {"oneapi/dnnl", {"ops"}},
    {"cblas", {"ops"}},
    {"pcre2", {"data"}},
    {"utf8proc", {"data"}},
    {"cuda", {"device"}},
    {"cublas", {}},
    {"cudnn", {}},
    {"hip/", {"device"}},
    {"nccl", {}},
};

// Headers that take a second or more to compile: never in a header of ours.
inline const std::vector<std::string> heavy_headers = {"nlohmann/json.hpp", "yaml-cpp/", "CLI/", "doctest/",
                                                       "rapidcheck"};

inline constexpr int max_file_lines = 600;
inline constexpr int max_median_lines = 200;
inline constexpr int max_command_lines = 150;  // apps/shoal/cmd_*.cpp
inline constexpr int max_main_lines = 80;      // main, and the training loop

}  // namespace shoal::architecture
