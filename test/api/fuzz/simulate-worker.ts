import type { Seeded } from '../../sim/seeded.ts'
import type { Operation } from '../openapi-document.ts'
import type { Pool } from './pool.ts'

interface Played {
  readonly session: string | undefined
  readonly secret: string | undefined
  readonly body: object
}

const MAX_ATTEMPTS = 3
/** A worker that can run the fixtures. */
const ABLE = {
  queues: ['default', 'a', 'b', 'mail'],
  executors: ['shell', 'argv', 'script', 'handler:a', 'handler:b', 'handler:mail'],
  slots: 10,
  registration: 1,
  held: [],
  forsaken: [],
}

/**
 * Usually the request a real worker would send next: from schemas alone, the number of the next exchange or the
 * fence of an attempt would almost never be right.
 */
export function simulateWorker(
  { operationId }: Operation,
  { seeded, pool }: { seeded: Seeded; pool: Pool },
): Played | undefined {
  const { chance, pick } = seeded
  if (operationId === 'postWorkers') {
    return chance(0.3) ? undefined : { session: undefined, secret: undefined, body: ABLE }
  }
  const session = operationId.startsWith('postWorkersSession') ? pool.session() : undefined
  if (!session || chance(operationId.endsWith('Leave') ? 0.7 : 0.15)) return undefined
  const { registration, number, granted } = session
  const held = granted.slice(0, MAX_ATTEMPTS).map(({ run, fence }) => ({ run, fence }))
  const bodies: Readonly<Record<string, () => object>> = {
    postWorkersSessionExchange() {
      const done = granted.splice(0, MAX_ATTEMPTS).map(({ run, fence }) => ({
        run,
        fence,
        ...pick<object>([
          {
            outcome: 'succeeded',
            result: pick(['{"a":1}', 'no JSON', '"text"', '['.repeat(9_000)]),
          },
          { outcome: 'failed', cause: 'exit', message: 'it broke', process: { exit_code: 3 } },
          { outcome: 'failed', cause: 'error', retriable: false },
          { outcome: 'cancelled', process: { signal: 'SIGTERM' } },
          { outcome: 'given_back' },
        ]),
      }))
      session.number = number + 1
      return { registration, number: number + 1, answered: number, done, free: pick([0, 1, 4]) }
    },
    postWorkersSessionHeartbeat: () => ({ registration, answered: number, held }),
    postWorkersSessionLogs() {
      const one = granted[0]
      if (!one) return { registration }
      const { run, fence, chunks } = one
      one.chunks += 1
      const entries = [
        [1, 1, 'line\n'],
        [2, 2, pick(['half', '\ud83d', '\0\n'])],
      ]
      return { registration, chunks: [{ run, fence, chunk: chunks, entries }] }
    },
    postWorkersSessionLeave: () => ({ registration }),
  }
  return { session: session.session, secret: session.secret, body: bodies[operationId]?.() ?? {} }
}
