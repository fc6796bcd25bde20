// Where the ranks of a group are, and what their clocks show.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace shoal {

std::string host_name();

// The host of each rank. Collective.
std::vector<std::string> host_names(Communicator& group);

// What to add to this rank's steady clock to get that of the first rank: 0 on the same host, where they are
// one clock; else half way between question and answer of the fastest of a few messages (Cristian 1989).
// Collective; `hosts` as host_names() gives them.
std::chrono::nanoseconds clock_offset(Communicator& group, const std::vector<std::string>& hosts);

// Texts of all ranks go to the first one, which gets them in order and one at a time. Collective.
void collect(Communicator& group, const std::string& mine,
             const std::function<void(int rank, const std::string& text)>& take);

}  // namespace shoal
