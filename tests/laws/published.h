// The published points and fits that the law tests compare with.
#pragma once

#include <string>
#include <vector>

#include "laws/parametric.h"
#include "laws/points.h"

inline std::string law_data(const std::string& name) {
  return std::string(SHOAL_SOURCE_DIR) + "/tests/data/laws/" + name;
}

// The Gemstones points of one published set; without_embeddings takes
// `embeddings` times 50304 * width off the count.
inline std::vector<shoal::LawPoint> gemstones(const std::string& set, int without_embeddings = 0) {
  auto points = shoal::read_law_points(law_data("wandb_df_for_fitting_" + set + ".jsonl"));
  for (auto& p : points) p.params -= without_embeddings * 50304 * p.width;
  return points;
}

// The 240 points that the replication of Chinchilla keeps: loss below the fifth largest.
std::vector<shoal::LawPoint> chinchilla();

struct PublishedFit {
  std::string law, set;
  bool no_embeds = false;
  double delta = 0;
  size_t points = 0;
  shoal::ParametricLaw fit;  // objective as published
};
std::vector<PublishedFit> published_fits();

struct PublishedLine {
  std::string label;
  double slope = 0, intercept = 0;
};
std::vector<PublishedLine> published_lines();
