import { LIMITS } from '../../src/core/limits.ts'
import type { HostileRequest, Send } from './hostile-requests.ts'

const MB = 2 ** 20

/** Worker messages of the maximum size. */
export function hostileReports(): HostileRequest[] {
  let session = ''
  let number = 0
  let registration = 1
  let held: readonly { readonly run: string; readonly fence: number }[] = []
  const registrationFields = {
    name: 'hostile',
    queues: ['reports'],
    labels: {},
    slots: LIMITS.slots,
    executors: ['handler:report'],
    forsaken: [],
  }
  const parsed = async (answer: Promise<{ status: number; text: string }>) =>
    JSON.parse((await answer).text) as Record<string, never>
  const exchange = async (send: Send, done: readonly object[], free: number) => {
    number += 1
    const message = { registration, number, answered: number - 1, done, free, wait_ms: 5_000 }
    return send('POST', `/v1/workers/${session}/exchange`, message)
  }
  const take = async (send: Send) => {
    if (session === '')
      session = (
        await parsed(send('POST', '/v1/workers', { ...registrationFields, registration, held: [] }))
      )['session']!
    const runs = Array.from({ length: LIMITS.slots }, () => ({ job: 'report', queue: 'reports' }))
    await send('POST', '/v1/runs:batch', { runs })
    const taken: { run: string; fence: number }[] = [...held]
    while (taken.length < LIMITS.slots) {
      const answer = await parsed(exchange(send, [], LIMITS.slots - taken.length))
      const granted = answer['runs'] as unknown as { run: string; fence: number }[]
      if (granted.length === 0) throw new Error(`${taken.length} runs were granted`)
      taken.push(...granted.map(({ run, fence }) => ({ run, fence })))
    }
    held = taken
  }
  const path = (verb: string) => `/v1/workers/${session}/${verb}`
  return [
    {
      name: 'worker: heartbeat for 10,000 attempts',
      status: 200,
      prepare: take,
      send: (send) => send('POST', path('heartbeat'), { registration, answered: number, held }),
    },
    {
      name: 'worker: registration with 10,000 attempts',
      status: 201,
      send: (send) => {
        registration += 1
        number = 0
        return send('POST', '/v1/workers', { ...registrationFields, session, registration, held })
      },
    },
    {
      name: 'worker: 4 MB of output',
      status: 200,
      send: (send) => {
        const { run, fence } = held[0]!
        const entries = Array.from({ length: 9_000 }, (_, ms) => [ms, 1, 'one line of text\n'])
        const chunks = Array.from({ length: 13 }, (_, chunk) => ({ run, fence, chunk, entries }))
        return send('POST', path('logs'), { registration, chunks })
      },
    },
    {
      name: 'log: 10,000 lines',
      status: 200,
      send: (send) => send('GET', `/v1/runs/${held[0]!.run}/logs?limit=10000`),
    },
    {
      name: 'log: a slow expression',
      status: 200,
      send: (send) =>
        send(
          'GET',
          `/v1/runs/${held[0]!.run}/logs/search?mode=regex&q=${encodeURIComponent(`(${'.*.*'.repeat(50)})x`)}`,
        ),
    },
    {
      name: 'worker: 10,000 attempts end',
      status: 200,
      async send(send) {
        const done = held.map((attempt) => ({
          ...attempt,
          outcome: 'succeeded',
          result: '{"a":1}',
        }))
        held = []
        return exchange(send, done, 0)
      },
    },
    {
      name: 'worker: 10,000 attempts end with 18 MB of results',
      status: 200,
      prepare: take,
      async send(send) {
        const result = JSON.stringify('x'.repeat(1_700))
        const done = held.map((attempt) => ({ ...attempt, outcome: 'succeeded', result }))
        held = []
        return exchange(send, done, 0)
      },
    },
    {
      name: 'worker: an attempt ends with 8 MB',
      status: 200,
      prepare: take,
      async send(send) {
        const result = JSON.stringify(Array.from({ length: 4 * MB - 2 }, () => 0))
        const [first, ...remaining] = held
        held = remaining
        return exchange(send, [{ ...first, outcome: 'succeeded', result }], 0)
      },
    },
  ]
}
