/** Valid names of environment variables. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const OWN = /^PUNCTUAL_|^TRACEPARENT$/

/** Whether Punctual sets this variable for every process. */
export function isPunctualVariable(name: string): boolean {
  return OWN.test(name)
}

const ENGINE_VARIABLES =
  /^(?:LD_|GLIBC_|MALLOC_|GO[A-Z]|PATH$|HOME$|USER$|SHELL$|TMPDIR$|XDG_|DBUS_|SSL_|SSH_|AUTH|CONTAINER|DOCKER|PODMAN|BUILDAH|STORAGE_|REGISTR|NOTIFY_|LISTEN_|OCI_|_|[A-Z]*_PROXY$)/i

/** Whether a container engine, or the host's loader, interprets this variable. */
export function isEngineVariable(name: string): boolean {
  return ENGINE_VARIABLES.test(name)
}
