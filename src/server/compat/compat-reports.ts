import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { OutputEntry, ProcessEnd } from '../../core/run/output.ts'
import type { LogStore } from '../../store/port.ts'
import { unpackChunk } from '../logs/chunk-pack.ts'
import { storeLogs, type LogContext } from '../workers/store-logs.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import type { CompatSessions } from './compat-sessions.ts'
import { unknownJob } from './job-number.ts'
import { byteLength } from './read-output.ts'

/** The states of an attempt in the words of either protocol. */
export const REPORTS = ['running', 'success', 'succeeded', 'failure', 'failed'] as const
export type ReportStatus = (typeof REPORTS)[number]

export interface CompatReport {
  readonly logs?: string | undefined
  readonly status: ReportStatus
  /** Exit code of the process, stored if the report ends the attempt. */
  readonly exitCode?: number | null | undefined
}

export interface CompatReports {
  /** Handles a worker's report about its job. Refused when the worker no longer holds the job. */
  report(
    session: Session,
    job: { readonly id: number; readonly isKnown: () => Promise<boolean> },
    report: CompatReport,
  ): Promise<void>
}

/** Characters of one chunk: they fit in any encoding. */
const CHUNK_LENGTH = 64 * 1024
/** Number of chunks read at once when they are counted. */
const PAGE = 8

export function createCompatReports(deps: {
  readonly sessions: Pick<CompatSessions, 'end'>
  readonly store: LogStore
  readonly logging: LogContext
  storeNow(): number
}): CompatReports {
  const { sessions, store, logging } = deps
  const busy = new Map<number, Promise<unknown>>()

  /** Chunks have consecutive numbers, so reports of one session are handled one after the other. */
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
      const [stored] = (await storeLogs(session, message, logging)).stored
      if (stored == null) throw lost()
      if (stored !== next + 1) throw new Error(`chunk ${next} is not stored, but ${stored} are`)
      next = stored
    }
  }

  const entryOf = ({ startedAt }: HeldLease, text: string): OutputEntry => [
    Math.max(0, deps.storeNow() - startedAt),
    1,
    text,
  ]

  /** Earlier output is stored already; the last part comes with the end. */
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
    report: (session, job, { logs = '', status, exitCode }) =>
      inTurn(session, async () => {
        const lease = [...session.leases.values()].find(({ jobId }) => jobId === job.id)
        if (!lease) throw (await job.isKnown()) ? lost() : unknownJob(job.id)
        const texts = pieces(logs.toWellFormed())
        if (status === 'running') return append(session, lease, texts)
        const last = texts.pop()
        await append(session, lease, texts)
        const process = {
          ...(await outputOf(lease, last)),
          ...(exitCode == null ? {} : { exit_code: exitCode }),
        }
        const outcome = outcomeOf(status, exitCode)
        if (!(await sessions.end(session, lease, { ...outcome, process }))) throw lost()
      }),
  }
}

/** The status decides: a worker may report a failure of a process that exited with 0. */
function outcomeOf(status: ReportStatus, exitCode: number | null | undefined) {
  if (status === 'success' || status === 'succeeded') return { outcome: 'succeeded' } as const
  if (!exitCode) return { outcome: 'failed', cause: 'error', message: FAILED } as const
  const message = `exited with code ${exitCode}`
  return { outcome: 'failed', cause: 'exit', message } as const
}

const FAILED = 'its worker reported a failure'

function lost(): PunctualError {
  return new PunctualError('lease_lost', 'this job is not assigned to this worker')
}

function pieces(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + CHUNK_LENGTH, text.length)
    // Does not split a surrogate pair.
    if (to < text.length && isHighHalf(text.charCodeAt(to - 1))) to -= 1
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

function isHighHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
