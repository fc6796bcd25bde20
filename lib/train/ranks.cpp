#include "train/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "base/error.h"

namespace shoal {
namespace {

// What the launchers of MPICH (PMI), PMIx, Open MPI, Cray PALS and IBM's jsrun leave in the environment.
constexpr const char* launcher_variables[] = {
    "PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "JSM_NAMESPACE_RANK"};

bool under_launcher() {
  return std::any_of(std::begin(launcher_variables), std::end(launcher_variables),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

// srun with an --mpi that this MPI does not speak starts as many runs as there are tasks, all alike.
void check_not_singletons(int ranks) {
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (ranks > 1 || tasks == nullptr || std::atoi(tasks) <= 1) return;
  throw UserError(Problem{.what = "Slurm started several tasks, but MPI sees one rank in each",
                          .where = "srun",
                          .value = fmt::format("{} tasks", tasks),
                          .allowed = "",
                          .hint = "start them with srun --mpi=pmi2"});
}

}  // namespace

int on_ranks(const std::function<int(const MpiSession*)>& work) {
  std::optional<MpiSession> session;
  if (under_launcher()) session.emplace();
  const int ranks = session ? session->size() : 1;
  check_not_singletons(ranks);
  if (ranks == 1) return work(session ? &*session : nullptr);
  try {
    return work(&*session);
  } catch (const Error& error) {
    session->fail(int(error.code()), error.what());
  } catch (const std::exception& error) {
    session->fail(int(ExitCode::failure), error.what());
  }
}

}  // namespace shoal
