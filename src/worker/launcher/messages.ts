/** A launcher's ends of the pipes to its worker, and the file they share. */
export const DESCRIPTORS = { orders: 0, lifeline: 3, reports: 4 } as const

/** What a worker tells a launcher. */
export type Order =
  | StartOrder
  /** Ask it to end, and make it end after the grace. Without a grace, at once. */
  | { readonly order: 'stop'; readonly child: number; readonly graceMs: number }
  /** Stop or go on reading what it prints: the worker cannot take more. */
  | { readonly order: 'pause' | 'resume'; readonly child: number }

export interface StartOrder {
  readonly order: 'start'
  /** The worker's number for it. */
  readonly child: number
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly stdin: string | undefined
  readonly umask: number | undefined
  /** Whom it runs as, if not as the worker. */
  readonly user?: User | undefined
  readonly limits?: Limits | undefined
  /**
   * How long it may take. The launcher itself holds it to this, so that a worker which is frozen or
   * gone cannot forget it: it is asked to end, and made to after the grace.
   */
  readonly timeoutMs?: number | undefined
  readonly graceMs?: number | undefined
}

export interface User {
  readonly uid: number
  readonly gid: number
  /** All its groups; those of the worker are taken away. */
  readonly groups: readonly number[]
}

/** What all processes of an attempt may use together; `files` is for each of them. */
export interface Limits {
  /** Swap included. An attempt that needs more is killed as a whole. */
  readonly memoryBytes?: number | undefined
  /** Cores, also parts of one. */
  readonly cpu?: number | undefined
  readonly pids?: number | undefined
  readonly files?: number | undefined
}

export type Limit = 'memory' | 'cpu' | 'pids' | 'files'

/**
 * How surely everything that an attempt has started ends with it. A PID namespace or a control group
 * holds whatever is born in it; of a process group, only what can be found is killed.
 */
export type Containment = 'pidns' | 'cgroup' | 'group'

/** What a launcher can do on this machine. */
export interface Abilities {
  readonly kind: 'native' | 'node'
  readonly containment: Containment
  /** Limits it can hold processes to. An order that asks for another is refused. */
  readonly limits: readonly Limit[]
  /** Whether it can run processes as somebody else. */
  readonly canSwitchUser: boolean
  /** Why it cannot do more, in a sentence for people; empty if it can do everything. */
  readonly why: string
}

export interface EndDetails {
  readonly containment: Containment
  /** It needed more memory than it may have, and was killed for it. */
  readonly oom?: boolean
  /** It was told to end because its time was up. */
  readonly timedOut?: boolean
  /** It was killed because its worker had not renewed the lifeline in time. */
  readonly lapsed?: boolean
  /** How often it was refused another process. */
  readonly pidsRefused?: number
}

/** What a process printed, and how long after its start. */
export interface Output {
  readonly child: number
  readonly stream: 1 | 2
  readonly ms: number
  readonly bytes: Buffer
}

/** What a launcher tells its worker. */
export type Report =
  | { readonly report: 'ready'; readonly abilities: Abilities }
  /** It cannot be what it was asked to be, and leaves. */
  | { readonly report: 'refused'; readonly message: string }
  | ({ readonly report: 'output' } & Output)
  /** The first and only report of a child that could not be started. */
  | { readonly report: 'unstartable'; readonly child: number; readonly message: string }
  /** It ended, with everything it had started, and all they printed was reported before. */
  | {
      readonly report: 'ended'
      readonly child: number
      readonly code: number | null
      readonly signal: string | null
      readonly details: EndDetails
    }
