// Transports of libzmq.a that Lockstep never uses (Kerberos, PGM, NORM), as functions that fail.
// Debian's libzmq is built with all of them; with their libraries, a program that links libzmq.so
// takes two milliseconds longer to start. Only for programs that connect to tcp:// and ipc://
// addresses (cmake/static_link.cmake); launcher/cli/link/endpoint.cc refuses all others.

extern "C" {

// libzmq initialises PGM with its first context and ends it with the last; both must succeed.
int pgm_init(void**) { return 1; }
int pgm_shutdown() { return 1; }

// The functions are never called with their real arguments, so they declare none.
#define LOCKSTEP_UNUSED_TRANSPORT(name) \
  long name() { return 0; }

LOCKSTEP_UNUSED_TRANSPORT(NormCreateInstance)
LOCKSTEP_UNUSED_TRANSPORT(NormCreateSession)
LOCKSTEP_UNUSED_TRANSPORT(NormDestroyInstance)
LOCKSTEP_UNUSED_TRANSPORT(NormDestroySession)
LOCKSTEP_UNUSED_TRANSPORT(NormGetDescriptor)
LOCKSTEP_UNUSED_TRANSPORT(NormGetNextEvent)
LOCKSTEP_UNUSED_TRANSPORT(NormGetRandomSessionId)
LOCKSTEP_UNUSED_TRANSPORT(NormIsUnicastAddress)
LOCKSTEP_UNUSED_TRANSPORT(NormNodeDelete)
LOCKSTEP_UNUSED_TRANSPORT(NormObjectGetType)
LOCKSTEP_UNUSED_TRANSPORT(NormObjectGetUserData)
LOCKSTEP_UNUSED_TRANSPORT(NormObjectSetUserData)
LOCKSTEP_UNUSED_TRANSPORT(NormSetCongestionControl)
LOCKSTEP_UNUSED_TRANSPORT(NormSetDefaultSyncPolicy)
LOCKSTEP_UNUSED_TRANSPORT(NormSetDefaultUnicastNack)
LOCKSTEP_UNUSED_TRANSPORT(NormSetLoopback)
LOCKSTEP_UNUSED_TRANSPORT(NormSetMulticastInterface)
LOCKSTEP_UNUSED_TRANSPORT(NormSetRxPortReuse)
LOCKSTEP_UNUSED_TRANSPORT(NormSetTTL)
LOCKSTEP_UNUSED_TRANSPORT(NormStartReceiver)
LOCKSTEP_UNUSED_TRANSPORT(NormStartSender)
LOCKSTEP_UNUSED_TRANSPORT(NormStopInstance)
LOCKSTEP_UNUSED_TRANSPORT(NormStopReceiver)
LOCKSTEP_UNUSED_TRANSPORT(NormStopSender)
LOCKSTEP_UNUSED_TRANSPORT(NormStreamFlush)
LOCKSTEP_UNUSED_TRANSPORT(NormStreamOpen)
LOCKSTEP_UNUSED_TRANSPORT(NormStreamRead)
LOCKSTEP_UNUSED_TRANSPORT(NormStreamSeekMsgStart)
LOCKSTEP_UNUSED_TRANSPORT(NormStreamWrite)
LOCKSTEP_UNUSED_TRANSPORT(gss_accept_sec_context)
LOCKSTEP_UNUSED_TRANSPORT(gss_acquire_cred)
LOCKSTEP_UNUSED_TRANSPORT(gss_delete_sec_context)
LOCKSTEP_UNUSED_TRANSPORT(gss_display_name)
LOCKSTEP_UNUSED_TRANSPORT(gss_import_name)
LOCKSTEP_UNUSED_TRANSPORT(gss_init_sec_context)
LOCKSTEP_UNUSED_TRANSPORT(gss_release_buffer)
LOCKSTEP_UNUSED_TRANSPORT(gss_release_cred)
LOCKSTEP_UNUSED_TRANSPORT(gss_release_name)
LOCKSTEP_UNUSED_TRANSPORT(gss_unwrap)
LOCKSTEP_UNUSED_TRANSPORT(gss_wrap)
LOCKSTEP_UNUSED_TRANSPORT(pgm_bind3)
LOCKSTEP_UNUSED_TRANSPORT(pgm_close)
LOCKSTEP_UNUSED_TRANSPORT(pgm_connect)
LOCKSTEP_UNUSED_TRANSPORT(pgm_error_free)
LOCKSTEP_UNUSED_TRANSPORT(pgm_free)
LOCKSTEP_UNUSED_TRANSPORT(pgm_freeaddrinfo)
LOCKSTEP_UNUSED_TRANSPORT(pgm_getaddrinfo)
LOCKSTEP_UNUSED_TRANSPORT(pgm_getsockopt)
LOCKSTEP_UNUSED_TRANSPORT(pgm_gsi_create_from_data)
LOCKSTEP_UNUSED_TRANSPORT(pgm_recvmsgv)
LOCKSTEP_UNUSED_TRANSPORT(pgm_send)
LOCKSTEP_UNUSED_TRANSPORT(pgm_setsockopt)
LOCKSTEP_UNUSED_TRANSPORT(pgm_socket)

#undef LOCKSTEP_UNUSED_TRANSPORT

extern void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
extern void* const GSS_C_NT_USER_NAME = nullptr;
extern void* const NORM_INSTANCE_INVALID = nullptr;
extern void* const NORM_SESSION_INVALID = nullptr;
extern void* const NORM_OBJECT_INVALID = nullptr;
extern void* const NORM_NODE_ANY = nullptr;

}  // extern "C"
