#include "common/io/framed_socket.h"
