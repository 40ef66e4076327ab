import { setTimeout as pause } from 'node:timers/promises'
import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import type { PrintedChunk } from './generated-output.ts'

/** A run that is under way with a worker of ours, which says it printed whatever we like. */
export interface PlayedRun {
  readonly id: string
  print(chunks: readonly PrintedChunk[]): Promise<void>
  end(): Promise<void>
}

const OFFER = {
  ...{ name: 'printer', queues: ['default'], labels: {}, executors: ['handler:print'], slots: 1 },
  ...{ registration: 1, held: [], forsaken: [] },
}

export async function playRun(client: SchedulerClient): Promise<PlayedRun> {
  const { session, heartbeatMs } = await client.register(OFFER)
  const [answer] = await client.submit([{ job: 'print' }])
  const { id } = answer!
  const turn = { registration: 1, number: 1, answered: 0, done: [], free: 1, waitMs: 5_000 }
  const { runs } = await client.exchange(session, turn)
  const { run, fence } = runs[0]!
  let isOver = false
  const beat = async () => {
    while (!isOver) {
      await client.heartbeat(session, { registration: 1, answered: 1, held: [{ run, fence }] })
      await pause(heartbeatMs)
    }
  }
  void beat()
  let chunks = 0
  let bytes = 0
  return {
    id,
    async print(printed) {
      const first = chunks
      const message = printed.map(({ entries }, index) => ({
        ...{ run, fence, entries },
        chunk: first + index,
      }))
      const { stored } = await client.log(session, { registration: 1, chunks: message })
      chunks += printed.length
      bytes += printed.reduce((sum, chunk) => sum + chunk.bytes, 0)
      if (stored.at(-1) !== chunks)
        throw new Error(`${stored.at(-1)} chunks of ${chunks} are stored`)
    },
    async end() {
      isOver = true
      const process = { exit_code: 0, output: { chunks, bytes } }
      const done = [{ run, fence, outcome: 'succeeded', process } as const]
      await client.exchange(session, { ...turn, number: 2, answered: 1, done, free: 0, waitMs: 0 })
      await client.leave(session, 1)
    },
  }
}
