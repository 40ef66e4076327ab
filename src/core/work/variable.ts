/** Names that variables of a process can have. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

const OWN = /^PUNCTUAL_|^TRACEPARENT$/

/** Whether Punctual sets it for every process. */
export function isOwnVariable(name: string): boolean {
  return OWN.test(name)
}

const OF_ENGINES =
  /^(?:LD_|GLIBC_|MALLOC_|GO[A-Z]|PATH$|HOME$|USER$|SHELL$|TMPDIR$|XDG_|DBUS_|SSL_|SSH_|AUTH|CONTAINER|DOCKER|PODMAN|BUILDAH|STORAGE_|REGISTR|NOTIFY_|LISTEN_|OCI_|_|[A-Z]*_PROXY$)/i

/** Whether the programs that start containers heed it themselves, or the machine does for them. */
export function isAboutEngine(name: string): boolean {
  return OF_ENGINES.test(name)
}
