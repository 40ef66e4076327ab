import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { formatDuration } from '../core/text/duration.ts'
import { USUAL_QUEUES } from '../core/queue/default-queues.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { createWorker, type Worker, type WorkerOptions } from '../worker/index.ts'
import { adminToken } from './admin-token.ts'
import { lightBeacon } from './server-file.ts'
import { createEcho } from './echo.ts'
import type { ExecutorFlags } from './executor-flags.ts'
import { readExecutors } from './read-executors.ts'
import { warnOfRoot } from './root-warning.ts'
import { openScheduler, type Scheduler } from './scheduler.ts'
import { secretKeyFile } from './secret-key-file.ts'
import { isLoopback, type Settings } from './settings.ts'
import { stopOnSignals } from './signals.ts'

const DRAIN_MS = 30_000

/** `punctual up` with a worker, `punctual server` without: runs until it is told to stop. */
export async function serve(
  settings: Settings,
  {
    terminal,
    version,
    withWorker,
    executors,
  }: { terminal: Terminal; version: string; withWorker: boolean; executors: ExecutorFlags },
): Promise<number> {
  const startedAt = terminal.now()
  const { allowAddresses: allowAddress } = settings
  const offer = withWorker
    ? await readExecutors({ ...executors, allowAddress }, { looksAround: false })
    : undefined
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 })
  const { token, path } = await adminToken(settings.dataDir)
  const say = (error: unknown) => terminal.err(`punctual: ${describe(error)}\n`)
  const scheduler = await openScheduler({
    store: settings.store,
    blobs: { place: settings.blobs, dataDir: settings.dataDir },
    config: { inlineBytes: settings.inlineBytes, plainTtlMs: settings.plainTtlMs },
    rootToken: token,
    secretKeys: secretKeyFile(settings),
    version,
    allowAddresses: settings.allowAddresses,
    onError: say,
    onFatal(error) {
      terminal.err(`punctual: the store failed and cannot be trusted: ${describe(error)}\n`)
      // At once and without goodbyes: closing files would sync them again, and that lied already.
      process.kill(process.pid, 'SIGKILL')
    },
  })
  const { host, port, isOpen, allowHosts, tls } = settings
  const url = await scheduler
    .listen({ host, port, isOpen, allowHosts, ...(tls && { tls }) })
    .catch(async (error: unknown) => {
      // Half a server would keep the process, and the file, for ever.
      await scheduler.stop()
      throw cannotListen(error, `${host}:${port}`)
    })
  const darken = lightBeacon({ url, dataDir: settings.dataDir, tokenFile: path, env: terminal.env })
  if (offer && settings.slots > 0) terminal.err(warnOfRoot(settings.processes, offer.executors))
  const worker =
    offer && (await startWorker(scheduler, settings, terminal, { ...offer, onError: say }))
  terminal.out(
    banner({ url, version, settings, scheduler, worker, tookMs: terminal.now() - startedAt }),
  )
  if (!isLoopback(host) && !tls) {
    terminal.err('punctual: without --tls-cert and --tls-key, tokens travel readable by others\n')
  }
  return stopOnSignals(terminal, {
    async stop() {
      await worker?.drain(DRAIN_MS)
      await scheduler.stop()
      darken()
    },
    async hurry() {
      if (!worker) process.exit(1)
      await worker.kill()
    },
  })
}

async function startWorker(
  scheduler: Scheduler,
  { slots, processes }: Settings,
  terminal: Terminal,
  more: Partial<WorkerOptions>,
): Promise<Worker | undefined> {
  if (slots === 0) return undefined
  const worker = createWorker({
    client: scheduler.clientFor('default'),
    name: hostname().replace(/[^A-Za-z0-9._-]/g, '-') || 'local',
    // Of a server that runs on its own, every project is the worker's business.
    projects: [],
    queues: USUAL_QUEUES,
    slots,
    processes: { ...processes, ...(terminal.hasColour ? { echo: createEcho(terminal) } : {}) },
    ...more,
  })
  await worker.start()
  return worker
}

function cannotListen(error: unknown, where: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(`${where} is taken by another program; choose another with --port`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${where} is not an address of this machine; choose another with --listen`)
    case 'EACCES':
      return new Error(`${where} is only for the administrator; choose a port above 1023`)
    default:
      return error
  }
}

function banner(facts: {
  url: string
  version: string
  settings: Settings
  scheduler: Scheduler
  worker: Worker | undefined
  tookMs: number
}): string {
  const { url, version, settings, scheduler, worker } = facts
  const work = worker
    ? `1 worker, ${settings.slots} slots`
    : 'none here; start one with `punctual worker`'
  return `Punctual ${version} is ready in ${formatDuration(facts.tookMs)}.
  address  ${url}
  look     ${url}/ui
  data     ${resolve(settings.dataDir)}  (${scheduler.storeVersion})
  workers  ${work}

Try:
  punctual exec -- echo hello
`
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
