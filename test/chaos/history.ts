/**
 * What happened, as four witnesses tell it: the client, the handlers, the nemesis and the database.
 * Instants are nanoseconds of CLOCK_MONOTONIC, which all processes of one machine share.
 */
export interface History {
  readonly client: readonly ClientNote[]
  readonly truth: readonly TruthNote[]
  readonly faults: readonly Fault[]
  readonly dump: Dump
}

/** `info`: nobody knows whether it happened. */
export type Phase = 'invoke' | 'ok' | 'fail' | 'info'

export type ClientNote = SubmitNote | CancelNote

export interface SubmitNote {
  readonly op: 'submit'
  readonly phase: Phase
  /** Ties an end to its invocation. */
  readonly call: number
  readonly atNs: number
  /** Unique per intended run, and part of the run's input: how runs are found without the product. */
  readonly key: string
  /** With the invocation. */
  readonly traits?: Traits
  /** With `ok`. */
  readonly run?: string
  readonly code?: string
}

/** What a run was promised when it was submitted. */
export interface Traits {
  readonly gate?: string
  readonly limit?: number
  readonly atMostOnce?: boolean
  /** Retries and losses together allow no more starts than this. */
  readonly mostStarts?: number
  /** Not to be started before. */
  readonly dueNs?: number
}

export interface CancelNote {
  readonly op: 'cancel'
  readonly phase: Phase
  readonly call: number
  readonly atNs: number
  readonly run: string
  /** With `ok`: what the server said. */
  readonly state?: 'cancelled' | 'cancelling'
  readonly code?: string
}

/** START and END are written by the handler; ACCEPTED and STALE by who hears the server's verdict. */
export interface TruthNote {
  /** One process: a worker that was started anew is another one. */
  readonly worker: string
  readonly run: string
  readonly fence: number
  readonly what: 'START' | 'END' | 'ACCEPTED' | 'STALE'
  readonly atNs: number
  /** Of an END: succeeded, failed, stopped. Of a verdict: the outcome it is about. */
  readonly outcome: string
}

/** `died`: nobody meant it to. */
export type FaultKind =
  | 'killed'
  | 'frozen'
  | 'thawed'
  | 'died'
  | 'database-down'
  | 'database-up'
  | 'cut'
  | 'stalled'
  | 'clock-set'

export interface Fault {
  readonly kind: FaultKind
  /** The process, or the link, that it happened to. */
  readonly target: string
  readonly atNs: number
}

/** The database at rest, read without the product's help. Runs by their public ids. */
export interface Dump {
  readonly runs: readonly DumpedRun[]
  /** Every time a run was given an end, as triggers saw it. */
  readonly ends: readonly { readonly run: string; readonly state: string }[]
  /** Attempts that ended while their run went on. */
  readonly attempts: readonly {
    readonly run: string
    readonly fence: number
    readonly cause: string
  }[]
  /** Rows that only unfinished work has, by table. */
  readonly leftovers: Readonly<Record<string, number>>
}

export interface DumpedRun {
  readonly run: string
  readonly key: string
  readonly state: string
  readonly fence: number | null
  readonly cause: string | null
  /** The fence that the stored result names; null when there is no result. */
  readonly resultFence: number | null
}

export function monotonicNs(): number {
  return Number(process.hrtime.bigint())
}

export function truthLine(note: Omit<TruthNote, 'worker'>): string {
  return `${note.run} ${note.fence} ${note.what} ${note.atNs} ${note.outcome}\n`
}

/** A process that is killed may leave half a line at the end of its file. */
export function readTruth(worker: string, text: string): TruthNote[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [run = '', fence, what, atNs, outcome = ''] = line.split(' ')
    return {
      worker,
      run,
      fence: Number(fence),
      what: what as TruthNote['what'],
      atNs: Number(atNs),
      outcome,
    }
  })
}

export function readLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
}
