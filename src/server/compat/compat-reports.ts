import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { Entry, ProcessEnd } from '../../core/run/output.ts'
import type { LogStore } from '../../store/port.ts'
import { unpackChunk } from '../logs/chunk-pack.ts'
import { log, type Logging } from '../workers/store-logs.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import type { PlainSessions } from './compat-sessions.ts'
import { unknownJob } from './job-number.ts'
import { byteLength } from './read-output.ts'

/** How an attempt goes on, in the words of either of the old protocols. */
export const REPORTS = ['running', 'success', 'succeeded', 'failure', 'failed'] as const
export type ReportStatus = (typeof REPORTS)[number]

export interface PlainReport {
  readonly logs?: string | undefined
  readonly status: ReportStatus
}

export interface PlainReports {
  /** What a worker has to say of the job it has in hand. Refused when that is no longer its own. */
  report(
    session: Session,
    job: { readonly id: number; readonly isKnown: () => Promise<boolean> },
    report: PlainReport,
  ): Promise<void>
}

/** Letters of one chunk: however they are written, they fit. */
const CHUNK_LENGTH = 64 * 1024
/** Chunks read at a time when they are counted. */
const PAGE = 8

export function createPlainReports(deps: {
  readonly sessions: Pick<PlainSessions, 'end'>
  readonly store: LogStore
  readonly logging: Logging
  storeNow(): number
}): PlainReports {
  const { sessions, store, logging } = deps
  const busy = new Map<number, Promise<unknown>>()

  /** Chunks are numbered one after the other, so one report of a session follows another. */
  const inTurn = <T>(session: Session, task: () => Promise<T>): Promise<T> => {
    const before = busy.get(session.id) ?? Promise.resolve()
    const turn = before.then(task, task)
    busy.set(session.id, turn)
    const forget = () => busy.get(session.id) === turn && busy.delete(session.id)
    turn.then(forget, forget)
    return turn
  }

  const append = async (session: Session, lease: HeldLease, texts: readonly string[]) => {
    const { runId, fence } = lease
    const run = publicId('run', runId)
    let next = texts.length === 0 ? 0 : (await store.logEnd({ runId, fence })).chunks
    for (const text of texts) {
      const chunk = { run, fence, chunk: next, entries: [entryOf(lease, text)] }
      const message = { registration: session.registration, chunks: [chunk] }
      const [stored] = (await log(session, message, logging)).stored
      if (stored == null) throw lost()
      if (stored !== next + 1) throw new Error(`chunk ${next} is not stored, but ${stored} are`)
      next = stored
    }
  }

  const entryOf = ({ startedAt }: HeldLease, text: string): Entry => [
    Math.max(0, deps.storeNow() - startedAt),
    1,
    text,
  ]

  /** What came before is stored; the last of it is in the end itself. */
  const outputOf = async (lease: HeldLease, last: string | undefined): Promise<ProcessEnd> => {
    const { runId, fence } = lease
    const { chunks } = await store.logEnd({ runId, fence })
    let bytes = last === undefined ? 0 : byteLength(last)
    for (let from = 0; from < chunks; from += PAGE) {
      const rows = await store.logChunks({ runId, fence, from, limit: PAGE })
      for (const { packed } of rows) bytes += unpackChunk(packed).body.length
    }
    if (last === undefined) return { output: { chunks, bytes } }
    return { output: { chunks: chunks + 1, bytes, last: [entryOf(lease, last)] } }
  }

  return {
    report: (session, job, { logs = '', status }) =>
      inTurn(session, async () => {
        const lease = [...session.leases.values()].find(({ jobId }) => jobId === job.id)
        if (!lease) throw (await job.isKnown()) ? lost() : unknownJob(job.id)
        const texts = pieces(logs.toWellFormed())
        if (status === 'running') return append(session, lease, texts)
        const last = texts.pop()
        await append(session, lease, texts)
        const process = await outputOf(lease, last)
        const hasSucceeded = status === 'success' || status === 'succeeded'
        const outcome = hasSucceeded
          ? ({ outcome: 'succeeded', process } as const)
          : ({ outcome: 'failed', cause: 'error', message: FAILED, process } as const)
        if (!(await sessions.end(session, lease, outcome))) throw lost()
      }),
  }
}

const FAILED = 'its worker reported a failure'

function lost(): PunctualError {
  return new PunctualError(
    'lease_lost',
    'this job is not, or no longer, in the hands of this worker',
  )
}

function pieces(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + CHUNK_LENGTH, text.length)
    // A letter of two halves stays whole.
    if (to < text.length && isHighHalf(text.charCodeAt(to - 1))) to -= 1
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

function isHighHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
