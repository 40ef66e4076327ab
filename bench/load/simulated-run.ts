import { setTimeout as pause } from 'node:timers/promises'
import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import type { PrintedChunk } from './generated-output.ts'

/** A running attempt of a simulated worker, which reports arbitrary output. */
export interface SimulatedRun {
  readonly id: string
  print(chunks: readonly PrintedChunk[]): Promise<void>
  end(): Promise<void>
}

const REGISTRATION = {
  name: 'printer',
  queues: ['default'],
  labels: {},
  executors: ['handler:print'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
}

export async function startSimulatedRun(client: SchedulerClient): Promise<SimulatedRun> {
  const { heartbeatMs, ...welcome } = await client.register(REGISTRATION)
  const session = { id: welcome.session, secret: welcome.secret }
  const [answer] = await client.submit([{ job: 'print' }])
  const { id } = answer!
  const exchangeRequest = {
    registration: 1,
    number: 1,
    answered: 0,
    done: [],
    free: 1,
    waitMs: 5_000,
  }
  const { runs } = await client.exchange(session, exchangeRequest)
  const { run, fence } = runs[0]!
  let isEnded = false
  const sendHeartbeats = async () => {
    while (!isEnded) {
      await client.heartbeat(session, { registration: 1, answered: 1, held: [{ run, fence }] })
      await pause(heartbeatMs)
    }
  }
  void sendHeartbeats()
  let chunks = 0
  let bytes = 0
  return {
    id,
    async print(printed) {
      const first = chunks
      const message = printed.map(({ entries }, index) => ({
        run,
        fence,
        entries,
        chunk: first + index,
      }))
      const { stored } = await client.log(session, { registration: 1, chunks: message })
      chunks += printed.length
      bytes += printed.reduce((sum, chunk) => sum + chunk.bytes, 0)
      if (stored.at(-1) !== chunks)
        throw new Error(`${stored.at(-1)} chunks of ${chunks} are stored`)
    },
    async end() {
      isEnded = true
      const process = { exit_code: 0, output: { chunks, bytes } }
      const done = [{ run, fence, outcome: 'succeeded', process } as const]
      await client.exchange(session, {
        ...exchangeRequest,
        number: 2,
        answered: 1,
        done,
        free: 0,
        waitMs: 0,
      })
      await client.leave(session, 1)
    },
  }
}
