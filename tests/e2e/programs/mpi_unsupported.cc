// mpi_unsupported spawn|publish|connect: asks for what a gang without mpirun does not serve. MPI's
// default error handler ends the job with a non-zero code.

#include <mpi.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "spawn";
  char port[MPI_MAX_PORT_NAME] = {};
  if (std::strcmp(what, "spawn") == 0) {
    MPI_Comm children = MPI_COMM_NULL;
    char program[] = "/bin/true";
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  } else if (std::strcmp(what, "publish") == 0) {
    MPI_Publish_name("service", MPI_INFO_NULL, "port");
  } else {
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
  }
  std::printf("%s was served\n", what);
  MPI_Finalize();
  return 0;
}
