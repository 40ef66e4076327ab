import { hostname } from 'node:os'
import type { Command } from 'commander'
import { EXIT } from '../cli/errors/exit-codes.ts'
import { Failure } from '../cli/errors/failure.ts'
import { findServer } from '../cli/server/server-address.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { USUAL_QUEUES } from '../core/queue/default-queues.ts'
import { connect } from '../client/index.ts'
import { createWorker } from '../worker/index.ts'
import { createEcho } from './echo.ts'
import {
  type GivenProcessSettings,
  type ProcessSettings,
  processSettingsIn,
  readProcessSettings,
} from './process-settings.ts'
import { collectRefusals } from './setting-errors.ts'
import type { ExecutorFlags } from './executor-flags.ts'
import { readExecutors } from './read-executors.ts'
import { warnOfRoot } from './root-warning.ts'
import { stopOnSignals } from './signals.ts'

const DRAIN_MS = 30_000

export interface WorkerFlags extends GivenProcessSettings, ExecutorFlags {
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
  const { url, token } = findServer(global, { env: terminal.env, cwd: terminal.cwd })
  if (token === undefined) throw noToken(url)
  const processes = processSettings(flags, terminal.env)
  const executors = await readExecutors(flags, { looksAround: true })
  const client = connect({ url, token, ...(global.project && { project: global.project }) })
  const worker = createWorker({
    client,
    name: flags.name ?? (hostname().replace(/[^A-Za-z0-9._-]/g, '-') || 'worker'),
    queues: flags.queue ?? USUAL_QUEUES,
    ...(flags.label && { labels: flags.label }),
    slots: count('slots', flags.slots),
    processes: {
      ...processes,
      launchers: count('launchers', flags.launchers),
      passEnv: flags.passEnv,
      ...(terminal.hasColour ? { echo: createEcho(terminal) } : {}),
    },
    ...executors,
    onError: (error) => terminal.err(`punctual: ${(error as Error).message}\n`),
  })
  terminal.err(warnOfRoot(processes, executors.executors))
  await worker.start()
  terminal.out(`worker ${worker.stats().session} is connected to ${url}\n`)
  return stopOnSignals(terminal, {
    async stop() {
      await worker.drain(DRAIN_MS)
      await client.close()
    },
    hurry: worker.kill,
  })
}

/** What a flag says, it says instead of its variable. */
function processSettings(flags: WorkerFlags, env: NodeJS.ProcessEnv): ProcessSettings {
  const refusals = collectRefusals()
  const given = processSettingsIn(env)
  const settings = readProcessSettings(
    {
      limit: flags.limit ?? given.limit,
      allowUser: flags.allowUser ?? given.allowUser,
      runAs: flags.runAs ?? given.runAs,
      allowRoot: flags.allowRoot ?? given.allowRoot,
      launcher: flags.launcher ?? given.launcher,
      containment: flags.containment ?? given.containment,
    },
    refusals,
  )
  refusals.throwIfAny()
  return settings
}

function noToken(url: string): Failure {
  return new Failure(`a worker needs a token for ${url}`, {
    exitCode: EXIT.forbidden,
    code: 'unauthorized',
    hint: 'Give one with PUNCTUAL_TOKEN; `punctual token create NAME --role worker` makes one.',
  })
}

function count(flag: string, text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new Failure(`--${flag} is "${text}" and not a whole number from 1 on`, {
    exitCode: EXIT.usage,
  })
}
