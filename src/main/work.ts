import { hostname } from 'node:os'
import type { Command } from 'commander'
import { findServer } from '../cli/server-address.ts'
import type { Terminal } from '../cli/terminal.ts'
import { connect } from '../client/index.ts'
import { createWorker } from '../worker/index.ts'
import { createEcho } from './echo.ts'
import { stopOnSignals } from './signals.ts'

const DRAIN_MS = 30_000

export interface WorkerFlags {
  readonly name?: string
  readonly queue?: string[]
  readonly label?: Record<string, string>
  readonly slots: string
  readonly launchers: string
  readonly passEnv?: string[]
}

/** `punctual worker`: takes work until it is told to stop. */
export async function work(
  flags: WorkerFlags,
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const global = command.optsWithGlobals<{ server?: string; token?: string; project?: string }>()
  const { url, token = '' } = findServer(global, { env: terminal.env, cwd: terminal.cwd })
  const client = connect({ url, token, ...(global.project && { project: global.project }) })
  const worker = createWorker({
    client,
    name: flags.name ?? (hostname().replace(/[^A-Za-z0-9._-]/g, '-') || 'worker'),
    ...(flags.queue && { queues: flags.queue }),
    ...(flags.label && { labels: flags.label }),
    slots: Number(flags.slots),
    processes: {
      launchers: Number(flags.launchers),
      passEnv: flags.passEnv,
      ...(terminal.hasColour ? { echo: createEcho(terminal) } : {}),
    },
    onError: (error) => terminal.err(`punctual: ${(error as Error).message}\n`),
  })
  await worker.start()
  terminal.out(`worker ${worker.stats().session} is connected to ${url}\n`)
  return stopOnSignals(terminal, async () => {
    await worker.drain(DRAIN_MS)
    await client.close()
  })
}
