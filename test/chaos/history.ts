/**
 * What happened, from four sources: the client, the handlers, the fault injector and the database. Instants are
 * nanoseconds of CLOCK_MONOTONIC, which all processes of one machine share.
 */
export interface History {
  readonly client: readonly ClientNote[]
  readonly truth: readonly TruthNote[]
  readonly faults: readonly InjectedFault[]
  readonly dump: Dump
}

/** `info`: it is unknown whether the call took effect. */
export type Phase = 'invoke' | 'ok' | 'fail' | 'info'

export type ClientNote = SubmitNote | CancelNote

export interface SubmitNote {
  readonly op: 'submit'
  readonly phase: Phase
  /** Links an end to its invocation. */
  readonly call: number
  readonly atNs: number
  /** Unique per intended run, and part of the run's input: the checker finds runs by it without the product. */
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
  /** Upper bound of starts from retries and losses together. */
  readonly maxStarts?: number
  /** Must not start before this. */
  readonly dueNs?: number
}

export interface CancelNote {
  readonly op: 'cancel'
  readonly phase: Phase
  readonly call: number
  readonly atNs: number
  readonly run: string
  /** With `ok`: the state in the server's answer. */
  readonly state?: 'cancelled' | 'cancelling'
  readonly code?: string
}

/** The handler writes START and END; the worker writes ACCEPTED and STALE when it gets the server's verdict. */
export interface TruthNote {
  /** One process: a restarted worker is another one. */
  readonly worker: string
  readonly run: string
  readonly fence: number
  readonly what: 'START' | 'END' | 'ACCEPTED' | 'STALE'
  readonly atNs: number
  /** For END: succeeded, failed or stopped. For a verdict: the outcome it is about. */
  readonly outcome: string
}

/** `died`: a process ended by itself. */
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

export interface InjectedFault {
  readonly kind: FaultKind
  /** The process or connection the fault hit. */
  readonly target: string
  readonly atNs: number
}

/** The database after all runs ended, read without product code. Runs by their public ids. */
export interface Dump {
  readonly runs: readonly DumpedRun[]
  /** Every end recorded for a run, from the triggers. */
  readonly ends: readonly { readonly run: string; readonly state: string }[]
  /** Attempts that ended while their run continued. */
  readonly attempts: readonly {
    readonly run: string
    readonly fence: number
    readonly cause: string
  }[]
  /** Number of rows, by table, that only unfinished work has. */
  readonly leftovers: Readonly<Record<string, number>>
}

export interface DumpedRun {
  readonly run: string
  readonly key: string
  readonly state: string
  readonly fence: number | null
  readonly cause: string | null
  /** The fence in the stored result; null when there is no result. */
  readonly resultFence: number | null
}

export function monotonicNs(): number {
  return Number(process.hrtime.bigint())
}

export function truthLine(note: Omit<TruthNote, 'worker'>): string {
  return `${note.run} ${note.fence} ${note.what} ${note.atNs} ${note.outcome}\n`
}

/** A killed process may leave half a line at the end of its file. */
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
