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
}

/** What a launcher tells its worker. */
export type Report =
  | { readonly report: 'ready' }
  /** The first and only report of a child that could not be started. */
  | { readonly report: 'unstartable'; readonly child: number; readonly message: string }
  /** It ended, and everything it printed was reported before. */
  | {
      readonly report: 'ended'
      readonly child: number
      readonly code: number | null
      readonly signal: string | null
    }
