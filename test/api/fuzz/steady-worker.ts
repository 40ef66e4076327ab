import type { Seeded } from '../../sim/seeded.ts'
import type { OpenApi } from '../open-api.ts'

/**
 * A worker that follows the protocol during the fuzz, so that runs begin, print and end in every way. Its
 * reports contain odd values, as foreign workers may send.
 */
export interface SteadyWorker {
  /** Reports finished runs and takes new ones. */
  turn(): Promise<void>
  readonly ended: number
}

interface Grant {
  readonly run: string
  readonly fence: number
}

const OFFER = {
  name: 'steady',
  queues: ['default', 'a', 'b', 'mail', 'etl-1', 'plain'],
  labels: {},
  executors: ['shell', 'argv', 'script', 'handler:a', 'handler:b', 'handler:mail'],
  slots: 8,
  registration: 1,
  held: [],
  forsaken: [],
}
const OUTCOMES: readonly object[] = [
  { outcome: 'succeeded', result: '{"pages":3}' },
  { outcome: 'succeeded', result: 'no JSON' },
  { outcome: 'succeeded', result: '['.repeat(9_000) + ']'.repeat(9_000) },
  { outcome: 'failed', cause: 'exit', message: 'it broke', process: { exit_code: 3 } },
  { outcome: 'failed', cause: 'error', retriable: false, result: '1' },
  { outcome: 'cancelled', process: { signal: 'SIGTERM', output: { chunks: 1, bytes: 9 } } },
  { outcome: 'given_back' },
]
const PRINTED = ['line\n', 'half a line', '\0\u001b[31m\n', '\udc80\n']

export function createSteadyWorker({ call }: OpenApi, { pick }: Seeded): SteadyWorker {
  let session: string | undefined
  let number = 0
  let granted: readonly Grant[] = []
  let ended = 0
  const registration = 1

  const ask = async <T>(verb: string, body: object): Promise<T | undefined> => {
    const answer = await call<T>('POST', `/v1/workers/${session}/${verb}`, { body })
    if (answer.status < 300) return answer.body
    session = undefined
    granted = []
    return undefined
  }

  const register = async () => {
    const { body } = await call<{ session: string }>('POST', '/v1/workers', { body: OFFER })
    session = body.session
    number = 0
  }

  return {
    async turn() {
      if (session === undefined) await register()
      if (granted.length > 0) {
        const entries = [[1, pick([0, 1, 2]), pick(PRINTED)]]
        const chunks = granted.map(({ run, fence }) => ({ run, fence, chunk: 0, entries }))
        await ask('logs', { registration, chunks })
      }
      if (number % 10 === 0)
        await ask('heartbeat', {
          registration,
          answered: number,
          held: granted.map(({ run, fence }) => ({ run, fence })),
        })
      // Most runs are in this queue, and no other request would resume it.
      if (number % 20 === 0) {
        await call('PATCH', '/v1/queues/default', { body: { paused: false, rate: null } })
      }
      const done = granted.map(({ run, fence }) => ({ run, fence, ...pick(OUTCOMES) }))
      const answer = await ask<{ verdicts: readonly string[]; runs: readonly Grant[] }>(
        'exchange',
        {
          registration,
          number: number + 1,
          answered: number,
          done,
          free: 4,
          wait_ms: 0,
        },
      )
      if (!answer) return
      number += 1
      granted = answer.runs
      ended += answer.verdicts.filter((verdict) => verdict === 'accepted').length
    },
    get ended() {
      return ended
    },
  }
}
