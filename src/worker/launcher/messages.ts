/** A launcher's ends of the pipes to its worker, and the file they share. */
export const DESCRIPTORS = { orders: 0, lifeline: 3, reports: 4 } as const

/** A message from a worker to a launcher. */
export type LauncherOrder =
  | StartOrder
  /** Ask the process to end, and kill it after the grace. Without a grace, kill it at once. */
  | { readonly order: 'stop'; readonly child: number; readonly graceMs: number }
  /** Stop or continue reading the output of the process. */
  | { readonly order: 'pause' | 'resume'; readonly child: number }

export interface StartOrder {
  readonly order: 'start'
  /** The worker's number for the process. */
  readonly child: number
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly stdin: string | undefined
  readonly umask: number | undefined
  /** The user to run as, if not the worker's own. */
  readonly user?: User | undefined
  readonly limits?: Limits | undefined
  /**
   * The timeout of the process. The launcher enforces it, so that it also holds when the worker is
   * frozen or gone: the process is asked to end, and killed after the grace.
   */
  readonly timeoutMs?: number | undefined
  readonly graceMs?: number | undefined
  readonly secretFiles?: SecretFiles | undefined
}

/**
 * Files that the launcher writes before the process starts and deletes when it has ended, even if
 * the worker is gone.
 */
export interface SecretFiles {
  /** Exists already, and only the worker's user can create files in it. */
  readonly directory: string
  readonly files: readonly {
    /** Relative to the directory; does not begin with a dot. */
    readonly name: string
    readonly mode: number
    readonly content: string
  }[]
}

export interface User {
  readonly uid: number
  readonly gid: number
  /** All groups of the user, in place of the worker's groups. */
  readonly groups: readonly number[]
}

/** What all processes of an attempt may use together; `files` applies to each process. */
export interface Limits {
  /** Including swap. An attempt that needs more is killed as a whole. */
  readonly memoryBytes?: number | undefined
  /** CPU cores; fractions are allowed. */
  readonly cpu?: number | undefined
  readonly pids?: number | undefined
  readonly files?: number | undefined
}

export type Limit = 'memory' | 'cpu' | 'pids' | 'files'

/**
 * How reliably everything that an attempt started ends with it. A PID namespace or a cgroup
 * contains all descendants; of a process group, only the processes that can be found are killed.
 */
export type Containment = 'pidns' | 'cgroup' | 'group'

/** What a launcher can do on this machine. */
export interface Abilities {
  readonly kind: 'native' | 'node'
  readonly containment: Containment
  /** Limits it can enforce. An order with another limit is refused. */
  readonly limits: readonly Limit[]
  /** Whether it can run processes as another user. */
  readonly canSwitchUser: boolean
  /** Holds a lock until everything it started is gone: see `LauncherOptions.locks`. */
  readonly holdsLock: boolean
  /**
   * Secret files in a directory directly below `/dev/shm` are visible to their attempt alone, and
   * disappear with its last process.
   */
  readonly hidesFiles: boolean
  /** Why it cannot do more, as a sentence; empty if nothing is missing. */
  readonly why: string
}

export interface EndDetails {
  readonly containment: Containment
  /** Killed because it needed more memory than allowed. */
  readonly oom?: boolean
  /** Asked to end because it timed out. */
  readonly timedOut?: boolean
  /** Killed because its worker had not renewed the lifeline in time. */
  readonly leaseExpired?: boolean
  /** How often it was refused another process. */
  readonly pidsRefused?: number
}

/** Output of a process, and the time since its start. */
export interface ProcessOutput {
  readonly child: number
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

/** A message from a launcher to its worker. */
export type LauncherReport =
  | { readonly report: 'ready'; readonly abilities: Abilities }
  /** The launcher cannot offer the requested containment, and exits. */
  | { readonly report: 'refused'; readonly message: string }
  | ({ readonly report: 'output' } & ProcessOutput)
  /** The first and only report of a child that could not be started. */
  | { readonly report: 'unstartable'; readonly child: number; readonly message: string }
  /** The process and everything it started have ended, and all their output was reported before. */
  | {
      readonly report: 'ended'
      readonly child: number
      readonly code: number | null
      readonly signal: string | null
      readonly details: EndDetails
    }
