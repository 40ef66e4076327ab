import { CallError, type Client } from '../../src/client/index.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { Seeded } from '../sim/seeded.ts'
import { monotonicNs, type CancelNote, type ClientNote, type Phase } from './history.ts'
import { drawOrder, type Order, type Work } from './workload.ts'

export interface Load {
  /** Submissions acknowledged so far. */
  acknowledged(): number
  /** Submits nothing more; resolves when every call under way has ended. */
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

/** Several callers that submit, sometimes cancel, and write down what they were told. */
export function startLoad({ client, seeded, note, callers = 5 }: LoadOptions): Load {
  const stopping = new AbortController()
  const { signal } = stopping
  let calls = 0
  let keys = 0
  let acknowledged = 0

  /** A call that ended without an answer is repeated under its key, as its caller would do. */
  const submit = async (orders: readonly Order[]): Promise<void> => {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const call = (calls += 1)
      const each = (phase: Phase, more: (index: number) => object) => {
        const atNs = monotonicNs()
        for (const [index, { key }] of orders.entries()) {
          note({ op: 'submit', phase, call: call * 100 + index, key, atNs, ...more(index) })
        }
      }
      each('invoke', (index) => ({ traits: orders[index]?.traits }))
      try {
        const answers = await client.submit(orders.map(({ submission }) => submission))
        each('ok', (index) => ({ run: answers[index]?.id }))
        acknowledged += orders.length
        for (const [index, { flavour }] of orders.entries()) {
          const run = answers[index]?.id
          if (run && mayBeCancelled(flavour) && seeded.chance(0.3)) await cancel(run)
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
    const told = (phase: Phase, more: Partial<CancelNote> = {}) =>
      note({ op: 'cancel', phase, call, run, atNs: monotonicNs(), ...more })
    await systemClock.sleep(seeded.between(0, 300), signal)
    told('invoke')
    try {
      told('ok', { state: (await client.cancel(run)).state })
    } catch (error) {
      told(phaseOf(error), { code: codeOf(error) })
    }
  }

  const draw = () => drawOrder(seeded, `k${(keys += 1)}`, systemClock.now(), monotonicNs())

  /** The key of a run that exists, with another body: must be refused, and must not become a run. */
  const contradict = (order: Order): Order => {
    const key = `${order.key}/other`
    const input = { ...(order.submission.input as Work), key }
    return { ...order, key, submission: { ...order.submission, input } }
  }

  const caller = async (): Promise<void> => {
    while (!signal.aborted) {
      const orders = Array.from({ length: seeded.between(1, 3) }, draw)
      // Mistakes travel alone: what becomes of those beside them is another promise.
      const { wrong = [], right = [] } = Object.groupBy(orders, ({ flavour }) =>
        flavour === 'invalid' ? 'wrong' : 'right',
      )
      if (right.length > 0) await submit(right)
      for (const order of wrong) await submit([order])
      const [first] = right
      if (first && seeded.chance(0.02)) await submit([contradict(first)])
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

function mayBeCancelled(flavour: Order['flavour']): boolean {
  return flavour === 'delayed' || flavour === 'long' || flavour === 'gated'
}

/** The client says which failures are certain; the checker holds it to that. */
function phaseOf(error: unknown): 'fail' | 'info' {
  return error instanceof CallError && error.outcome === 'refused' ? 'fail' : 'info'
}

function codeOf(error: unknown): string {
  return error instanceof CallError ? error.code : String(error)
}
