/**
 * How reliably a worker contains its processes, as reported by the worker. For display only; no decision depends on
 * it.
 */
export interface Execution {
  /** The kind of launcher that starts the processes. */
  readonly launcher: string
  readonly containment: string
  /** The limits it can enforce for a command: `memory`, `cpu`, … */
  readonly limits: readonly string[]
  /**
   * Where secrets that are requested as files are stored: `private`, memory that only their attempt can read and that
   * is freed with it; `memory` or `disk`, a directory from which the launcher deletes them.
   */
  readonly secret_files?: string | undefined
  /** Commands without a user run as root, and the operator has not confirmed this. */
  readonly root?: boolean | undefined
  /** Why the containment is not better. */
  readonly why?: string | undefined
}
