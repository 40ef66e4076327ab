import { CallError, type Client } from '../../src/client/index.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { Seeded } from '../sim/seeded.ts'
import { monotonicNs, type CancelNote, type ClientNote, type Phase } from './history.ts'
import { drawSubmission, type PlannedSubmission, type HandlerInput } from './workload.ts'

export interface Load {
  /** Submissions acknowledged so far. */
  acknowledged(): number
  /** Stops submitting; resolves when every open call has ended. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly client: Client
  readonly seeded: Seeded
  readonly note: (note: ClientNote) => void
  readonly callers?: number
}

const PAUSE_MS = [5, 80] as const
const TRIES = 3

/** Several callers that submit, sometimes cancel, and record the answers. */
export function startLoad({ client, seeded, note, callers = 5 }: LoadOptions): Load {
  const stopping = new AbortController()
  const { signal } = stopping
  let calls = 0
  let keys = 0
  let acknowledged = 0

  /** A call without an answer is repeated with its key, as a real caller would do. */
  const submit = async (batch: readonly PlannedSubmission[]): Promise<void> => {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const call = (calls += 1)
      const each = (phase: Phase, more: (index: number) => object) => {
        const atNs = monotonicNs()
        for (const [index, { key }] of batch.entries()) {
          note({ op: 'submit', phase, call: call * 100 + index, key, atNs, ...more(index) })
        }
      }
      each('invoke', (index) => ({ traits: batch[index]?.traits }))
      try {
        const answers = await client.submit(batch.map(({ submission }) => submission))
        each('ok', (index) => ({ run: answers[index]?.id }))
        acknowledged += batch.length
        for (const [index, { kind }] of batch.entries()) {
          const run = answers[index]?.id
          if (run && mayBeCancelled(kind) && seeded.chance(0.3)) await cancel(run)
        }
        return
      } catch (error) {
        each(phaseOf(error), () => ({ code: codeOf(error) }))
        if (phaseOf(error) === 'fail') return
      }
    }
  }

  const cancel = async (run: string): Promise<void> => {
    const call = (calls += 1)
    const noteCancel = (phase: Phase, more: Partial<CancelNote> = {}) =>
      note({ op: 'cancel', phase, call, run, atNs: monotonicNs(), ...more })
    await systemClock.sleep(seeded.between(0, 300), signal)
    noteCancel('invoke')
    try {
      noteCancel('ok', { state: (await client.cancel(run)).state })
    } catch (error) {
      noteCancel(phaseOf(error), { code: codeOf(error) })
    }
  }

  const draw = () => drawSubmission(seeded, `k${(keys += 1)}`, systemClock.now(), monotonicNs())

  /** The key of an existing run with another body: must be refused, and must not become a run. */
  const withChangedInput = (planned: PlannedSubmission): PlannedSubmission => {
    const key = `${planned.key}/other`
    const input = { ...(planned.submission.input as HandlerInput), key }
    return { ...planned, key, submission: { ...planned.submission, input } }
  }

  const caller = async (): Promise<void> => {
    while (!signal.aborted) {
      const batch = Array.from({ length: seeded.between(1, 3) }, draw)
      // An invalid submission is sent alone: its effect on others in a batch is another guarantee.
      const { wrong = [], right = [] } = Object.groupBy(batch, ({ kind }) =>
        kind === 'invalid' ? 'wrong' : 'right',
      )
      if (right.length > 0) await submit(right)
      for (const planned of wrong) await submit([planned])
      const [first] = right
      if (first && seeded.chance(0.02)) await submit([withChangedInput(first)])
      await systemClock.sleep(seeded.between(...PAUSE_MS), signal)
    }
  }
  const running = Array.from({ length: callers }, caller)

  return {
    acknowledged: () => acknowledged,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

function mayBeCancelled(kind: PlannedSubmission['kind']): boolean {
  return kind === 'delayed' || kind === 'long' || kind === 'gated'
}

/** The client says which failures are certain; the checker relies on it. */
function phaseOf(error: unknown): 'fail' | 'info' {
  return error instanceof CallError && error.outcome === 'refused' ? 'fail' : 'info'
}

function codeOf(error: unknown): string {
  return error instanceof CallError ? error.code : String(error)
}
