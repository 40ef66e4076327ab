import assert from 'node:assert/strict'
import type { WireExchangeAnswer, WireWelcome } from '../../src/core/wire/worker.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { HostileEnvironment } from './hostile-environment.ts'

/** A worker that holds one run and sends heartbeats continuously, so that a starved server is detected. */
export interface TestNode {
  /** How many heartbeats were answered, and the slowest of them. */
  beats(): { count: number; slowestMs: number }
  /** Errors so far. */
  trouble(): readonly string[]
  /** Ends the run, which works only if its lease was never lost. */
  stop(): Promise<void>
}

const BEAT_MS = 100

export async function startTestNode({ call }: HostileEnvironment): Promise<TestNode> {
  const hello = {
    name: 'steady',
    queues: ['steady'],
    labels: {},
    executors: ['handler:beat'],
    slots: 1,
    registration: 1,
    held: [],
    forsaken: [],
  }
  const { session } = (await call('POST', '/v1/workers', hello)).body as WireWelcome
  const exchange = (number: number, done: object[], free: number) =>
    call('POST', `/v1/workers/${session}/exchange`, {
      registration: 1,
      number,
      answered: number - 1,
      done,
      free,
      wait_ms: 0,
    })
  await call('POST', '/v1/runs', { job: 'beat', queue: 'steady' })
  const { runs } = (await exchange(1, [], 1)).body as WireExchangeAnswer
  const [granted] = runs
  assert.ok(granted, 'the run was granted')
  const held = { run: granted.run, fence: granted.fence }

  const trouble: string[] = []
  let isOn = true
  let count = 0
  let slowestMs = 0
  const beat = async () => {
    while (isOn) {
      const sentAt = performance.now()
      const message = { registration: 1, answered: 1, held: [held] }
      try {
        const answer = await call('POST', `/v1/workers/${session}/heartbeat`, message)
        const { lost } = answer.body as { lost?: string[] }
        if (answer.status !== 200 || lost?.length !== 0) trouble.push(JSON.stringify(answer))
      } catch (error) {
        trouble.push(String(error))
      }
      count += 1
      slowestMs = Math.max(slowestMs, performance.now() - sentAt)
      await systemClock.sleep(BEAT_MS)
    }
  }
  const beating = beat()
  return {
    beats: () => ({ count, slowestMs }),
    trouble: () => trouble,
    async stop() {
      isOn = false
      await beating
      const answer = await exchange(2, [{ ...held, outcome: 'succeeded' }], 0)
      assert.deepEqual((answer.body as WireExchangeAnswer).verdicts, ['accepted'])
    },
  }
}
