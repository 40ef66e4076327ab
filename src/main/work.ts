import { hostname } from 'node:os'
import type { Command } from 'commander'
import { EXIT } from '../cli/errors/exit-codes.ts'
import { Failure } from '../cli/errors/failure.ts'
import { findServer } from '../cli/server/server-address.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { PunctualError } from '../core/errors.ts'
import { DEFAULT_WORKER_QUEUES } from '../core/queue/default-queues.ts'
import type { LogFormat } from '../core/logging/logger.ts'
import { connect } from '../client/index.ts'
import { createWorker } from '../worker/index.ts'
import { createEcho } from './worker/echo.ts'
import { createProcessLog, logFailuresOfProcess } from './log/process-log.ts'
import {
  type GivenProcessSettings,
  type ProcessSettings,
  processSettingsIn,
  readProcessSettings,
} from './settings/process-settings.ts'
import { collectSettingErrors } from './settings/setting-errors.ts'
import type { ExecutorFlags } from './worker/executor-flags.ts'
import { readExecutors } from './worker/read-executors.ts'
import { describeProjects, readProjects, serveGrantedProjects } from './worker/worker-projects.ts'
import { warnOfRoot } from './worker/root-warning.ts'
import { readLogFormat } from './settings/settings.ts'
import { stopOnSignals } from './signals.ts'

const DRAIN_MS = 30_000

export interface WorkerFlags extends GivenProcessSettings, ExecutorFlags {
  readonly name?: string
  readonly queue?: string[]
  readonly label?: Record<string, string>
  readonly slots: string
  readonly launchers: string
  readonly passEnv?: string[]
  readonly logFormat?: string
}

/** `punctual worker`: runs jobs until a signal stops it. */
export async function work(
  flags: WorkerFlags,
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const global = command.optsWithGlobals<GlobalFlags>()
  const found = findServer(global, { env: terminal.env, cwd: terminal.cwd })
  const { urls, token } = found
  if (token === undefined) throw noToken(urls.join(', '))
  const asked = global.project ?? found.project
  const { format, ...processes } = workerSettings(flags, terminal.env)
  const log = createProcessLog({ format, now: terminal.now })
  logFailuresOfProcess(log)
  const executors = await readExecutors(flags, { detectsEngines: true })
  let isHelpShown = false
  const onError = (error: unknown) => {
    log.survived(error)
    if (isHelpShown || codeOf(error) !== 'server_unreachable') return
    isHelpShown = true
    log.notice('help: the worker keeps trying; check --server or PUNCTUAL_SERVER')
  }
  const projects = asked === undefined ? undefined : readProjects(asked)
  const project = projects?.[0]
  const client = connect({ url: urls, token, ...(project && { project }) })
  const granted = projects ? undefined : serveGrantedProjects(client)
  const worker = createWorker({
    client: granted?.client ?? client,
    ...(projects && { projects }),
    name: flags.name ?? (hostname().replace(/[^A-Za-z0-9._-]/g, '-') || 'worker'),
    queues: flags.queue ?? DEFAULT_WORKER_QUEUES,
    ...(flags.label && { labels: flags.label }),
    slots: count('slots', flags.slots),
    processes: {
      ...processes,
      launchers: count('launchers', flags.launchers),
      passEnv: flags.passEnv,
      ...(terminal.hasColour && format === 'text' ? { echo: createEcho(terminal) } : {}),
    },
    ...executors,
    onError,
  })
  const warning = warnOfRoot(processes, executors.executors)
  if (warning !== undefined) log.notice(warning, 'warn')
  await worker.start()
  const { worker: id } = worker.stats()
  const stopped = stopOnSignals(
    { mono: terminal.mono, notice: log.notice },
    {
      async stop() {
        await worker.drain(DRAIN_MS)
        await client.close()
      },
      killRunning: () => worker.kill(),
    },
  )
  const serves = granted?.describe() ?? describeProjects(projects ?? [])
  log.announce(`worker ${id} is connected to ${urls.join(', ')} and serves ${serves}\n`, {
    message: 'the worker is connected',
    fields: { worker: id, server: urls.join(','), serves },
  })
  return stopped
}

interface GlobalFlags {
  readonly server?: readonly string[]
  readonly context?: string
  readonly token?: string
  readonly project?: string
}

/** A flag overrides its variable. */
function workerSettings(
  flags: WorkerFlags,
  env: NodeJS.ProcessEnv,
): ProcessSettings & { format: LogFormat } {
  const settingErrors = collectSettingErrors()
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
    settingErrors,
  )
  const format = readLogFormat(
    flags.logFormat ?? (env['PUNCTUAL_LOG_FORMAT'] || undefined),
    settingErrors,
  )
  settingErrors.throwIfAny()
  return { ...settings, format }
}

function codeOf(error: unknown): unknown {
  return error instanceof PunctualError ? error.code : undefined
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
