import type { Seeded } from '../../sim/seeded.ts'
import { waitFor } from '../../support/wait-for.ts'
import { drawRunSpec, submissionOf, type RunSpec } from './run-spec.ts'
import type { GatesEnvironment } from './gates-environment.ts'
import { retryUntilAnswered, RETRY_DEADLINE_MS } from './retry-until-answered.ts'

/** The load at the gates: runs are submitted in small batches, and some are cancelled. */
export interface GateWorkload {
  readonly keys: readonly string[]
  readonly runSpecs: ReadonlyMap<string, RunSpec>
  readonly cancelRequested: ReadonlySet<string>
  /** Submits these runs, retrying until acknowledged; returns their ids. */
  submit(runSpecs: readonly RunSpec[]): Promise<readonly string[]>
  /** Draws and submits runs up to a total, a batch whenever few are left to start. */
  feed(total: number): Promise<void>
  /** Cancels a running run or one of the latest. */
  cancelOne(): Promise<void>
}

const MAX_BATCH = 40
/** Limit of waiting runs per key: some gates are taken when a run comes in, and some are free. */
const WAITING_PER_KEY = 4
const IN_THE_ACT = 0.5

export function createGateWorkload(
  environment: GatesEnvironment,
  seeded: Seeded,
  keyCount: number,
): GateWorkload {
  const { client, traces, traceLog } = environment
  const keys = Array.from({ length: keyCount }, (_, index) => `key-${index + 1}`)
  const runSpecs = new Map<string, RunSpec>()
  const cancelRequested = new Set<string>()
  let submitted = 0

  const submit = async (some: readonly RunSpec[]) => {
    const submissions = some.map((runSpec) => {
      submitted += 1
      return submissionOf(runSpec, `gated-${submitted}`, traces)
    })
    const answers =
      (await retryUntilAnswered('a submission', () => client.submit(submissions))) ?? []
    for (const [index, { id }] of answers.entries()) runSpecs.set(id, some[index] as RunSpec)
    return answers.map(({ id }) => id)
  }

  return {
    keys,
    runSpecs,
    cancelRequested,
    submit,

    async feed(total) {
      while (runSpecs.size < total) {
        await waitFor(() => runSpecs.size - traceLog.begun() < keyCount * WAITING_PER_KEY, {
          what: 'queued runs to start',
          deadlineMs: RETRY_DEADLINE_MS,
        })
        const count = Math.min(seeded.between(1, MAX_BATCH), total - runSpecs.size)
        await submit(Array.from({ length: count }, () => drawRunSpec(seeded, keys)))
      }
    },

    async cancelOne() {
      const running = seeded.chance(IN_THE_ACT) ? traceLog.running().map(({ run }) => run) : []
      const latest = [...runSpecs.keys()].slice(-keyCount * WAITING_PER_KEY)
      const run = seeded.pick(running.length > 0 ? running : latest)
      cancelRequested.add(run)
      await retryUntilAnswered('a cancel', () => client.cancel(run))
    },
  }
}
