import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { PunctualError } from '../core/errors.ts'
import { formatDuration } from '../core/text/duration.ts'
import { DEFAULT_WORKER_QUEUES } from '../core/queue/default-queues.ts'
import { SERVER_FILE } from '../cli/server/running-servers.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { createWorker, type Worker, type WorkerOptions } from '../worker/index.ts'
import { adminToken, adminTokenFile } from './data-directory/admin-token.ts'
import { publishServerFile } from './data-directory/server-file.ts'
import { createEcho } from './worker/echo.ts'
import { explainDiskFull } from './data-directory/explain-disk-full.ts'
import type { ExecutorFlags } from './worker/executor-flags.ts'
import { settleFormerProcesses } from './former-processes/former-processes.ts'
import { createProcessLog, logFailuresOfProcess, type ProcessLog } from './log/process-log.ts'
import { createProcessRecord, type ProcessRecord } from './former-processes/process-record.ts'
import { protectDataDir, refuseLink } from './data-directory/private-files.ts'
import { readExecutors } from './worker/read-executors.ts'
import { warnOfRoot } from './worker/root-warning.ts'
import { openScheduler, type Scheduler } from './scheduler.ts'
import { secretKeyFile } from './data-directory/secret-key-file.ts'
import { StoreError } from '../store/port.ts'
import { isLoopback, type Settings } from './settings/settings.ts'
import { stopOnSignals } from './signals.ts'

const DRAIN_MS = 30_000

type ServeContext = {
  terminal: Terminal
  version: string
  withWorker: boolean
  executors: ExecutorFlags
}

/** `punctual up` with a worker, `punctual server` without one: runs until a signal stops it. */
export async function serve(settings: Settings, context: ServeContext): Promise<number> {
  try {
    return await serveUntilStopped(settings, context)
  } catch (error) {
    throw explainDiskFull(error, settings.dataDir)
  }
}

async function serveUntilStopped(
  settings: Settings,
  { terminal, version, withWorker, executors }: ServeContext,
): Promise<number> {
  const startedMono = terminal.mono()
  const log = createProcessLog({ format: settings.logFormat, now: terminal.now })
  logFailuresOfProcess(log)
  const { allowAddresses: allowAddress } = settings
  const offer = withWorker
    ? await readExecutors({ ...executors, allowAddress }, { detectsEngines: false })
    : undefined
  const warnOnce = createWarnOnce(log)
  protectDataDir(settings.dataDir, warnOnce)
  refuseLink(join(settings.dataDir, SERVER_FILE))
  const { token, path } = await adminToken(settings.dataDir)
  let isStoreLost = false
  const scheduler = await openScheduler({
    store: settings.store,
    blobs: { place: settings.blobs, dataDir: settings.dataDir },
    config: {
      inlineBytes: settings.inlineBytes,
      compatTtlMs: settings.compatTtlMs,
      minWorkerProtocol: settings.workerProtocol,
    },
    rootToken: token,
    rootTokenFile: adminTokenFile(token, path),
    secretKeys: secretKeyFile(settings),
    version,
    allowAddresses: settings.allowAddresses,
    log,
    onError: log.survived,
    onWarn: warnOnce,
    onFatal(error) {
      if (error instanceof StoreError && error.trouble) {
        // Keep the files open: they may be the last copy, and a restart would not help.
        isStoreLost = true
        log.error('the store stopped for good; this process answers /livez and /readyz', { error })
        return
      }
      log.error('the disk failed: the process ends at once', { error })
      // SIGKILL without a clean shutdown: closing the files would sync them again, after a sync
      // that failed.
      process.kill(process.pid, 'SIGKILL')
    },
  })
  const stopping = new AbortController()
  const open: Opened = {
    scheduler,
    tokenFile: path,
    offer,
    log,
    startedMono,
    stopping,
    isStoreLost: () => isStoreLost,
  }
  let stopped: Promise<number>
  try {
    ;({ stopped } = await startServing(settings, { terminal, version, open }))
  } catch (error) {
    // Before the store is closed, which may free space.
    const explained = explainDiskFull(error, settings.dataDir)
    // Stops the rest of a server that could not start, which would keep the process and the file
    // open for ever.
    stopping.abort()
    await scheduler.stop().catch(log.survived)
    throw explained
  }
  return stopped
}

/**
 * Removes duplicates: the data directory and the database are checked separately but usually share
 * their parents.
 */
function createWarnOnce(log: ProcessLog): (message: string) => void {
  const warned = new Set<string>()
  return (message) => {
    if (warned.has(message)) return
    warned.add(message)
    log.notice(message, 'warn')
  }
}

interface Opened {
  readonly scheduler: Scheduler
  readonly tokenFile: string
  readonly offer: Awaited<ReturnType<typeof readExecutors>> | undefined
  readonly log: ProcessLog
  readonly startedMono: number
  readonly stopping: AbortController
  isStoreLost(): boolean
}

/**
 * Listens, starts the worker, and prints the start message. `stopped` resolves when a signal has
 * stopped everything.
 */
async function startServing(
  settings: Settings,
  { terminal, version, open }: { terminal: Terminal; version: string; open: Opened },
): Promise<{ stopped: Promise<number> }> {
  const { scheduler, offer, log, stopping } = open
  const { host, port, isOpen, allowHosts, compatEmpty, tls } = settings
  const url = await scheduler
    .listen({ host, port, isOpen, allowHosts, compatEmpty, ...(tls && { tls }) })
    .catch((error: unknown) => {
      throw cannotListen(error, `${host}:${port}`)
    })
  void settleFormerProcesses(settings.dataDir, {
    onAwait: scheduler.formerSessions.await,
    onGone: scheduler.formerSessions.release,
    onError: log.survived,
    now: terminal.now,
    signal: stopping.signal,
  }).catch(log.survived)
  const removeServerFile = publishServerFile({
    url,
    dataDir: settings.dataDir,
    tokenFile: open.tokenFile,
    env: terminal.env,
  })
  const warning =
    offer && settings.slots > 0 ? warnOfRoot(settings.processes, offer.executors) : undefined
  if (warning !== undefined) log.notice(warning, 'warn')
  const record =
    offer && settings.slots > 0 ? createProcessRecord(settings.dataDir, log.survived) : undefined
  const worker =
    offer &&
    (await startWorker(scheduler, settings, terminal, { ...offer, record, onError: log.survived }))
  // Before the start message: a reader of it may stop the process the next moment.
  const stopped = stopServerOnSignals(terminal, open, { worker, record, removeServerFile })
  const tookMs = Math.round(terminal.mono() - open.startedMono)
  log.announce(
    banner({ url, version, settings, scheduler, worker, tookMs, tokenFile: open.tokenFile }),
    {
      message: 'the server is ready',
      fields: {
        url,
        version,
        took_ms: tookMs,
        data: resolve(settings.dataDir),
        store: scheduler.storeVersion,
        slots: worker ? settings.slots : 0,
        ...(scheduler.adminTokenReach && { admin_token: scheduler.adminTokenReach.acceptedBy }),
      },
    },
  )
  if (!isLoopback(host) && !tls) {
    log.notice('without --tls-cert and --tls-key, others can read tokens on the network', 'warn')
  }
  return { stopped }
}

function stopServerOnSignals(
  terminal: Terminal,
  { scheduler, log, stopping, isStoreLost }: Opened,
  {
    worker,
    record,
    removeServerFile,
  }: {
    readonly worker: Worker | undefined
    readonly record: ProcessRecord | undefined
    removeServerFile(): void
  },
): Promise<number> {
  return stopOnSignals(
    { mono: terminal.mono, notice: log.notice },
    {
      async stop() {
        stopping.abort()
        await worker?.drain(DRAIN_MS)
        await scheduler.stop()
        record?.remove()
        removeServerFile()
        // Closing the files would delete a write-ahead log by its name, which may belong to another
        // database.
        if (isStoreLost()) process.kill(process.pid, 'SIGKILL')
      },
      async killRunning() {
        if (!worker) process.exit(1)
        await worker.kill()
      },
    },
  )
}

async function startWorker(
  scheduler: Scheduler,
  { slots, processes, logFormat }: Settings,
  terminal: Terminal,
  { record, ...more }: Partial<WorkerOptions> & { record: ProcessRecord | undefined },
): Promise<Worker | undefined> {
  if (slots === 0) return undefined
  const client = scheduler.clientFor('default')
  const worker = createWorker({
    client: {
      ...client,
      async register(hello, secret) {
        const welcome = await client.register(hello, secret)
        // Record the session before it gets any work.
        record?.addSession(welcome.session)
        return welcome
      },
    },
    name: hostname().replace(/[^A-Za-z0-9._-]/g, '-') || 'local',
    // The worker of a standalone server serves every project.
    projects: [],
    queues: DEFAULT_WORKER_QUEUES,
    slots,
    processes: {
      ...processes,
      ...(record && { locks: record.locks, onLauncher: record.onLauncher }),
      ...(terminal.hasColour && logFormat === 'text' ? { echo: createEcho(terminal) } : {}),
    },
    ...more,
  })
  await worker.start()
  return worker
}

function cannotListen(error: unknown, where: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return wrong('port', `${where} is taken by another program`, CHOOSE_PORT)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return wrong('listen', `${where} is not an address of this machine`, CHOOSE_ADDRESS)
    case 'EACCES':
      return wrong('port', `${where} is only for the administrator`, 'Choose a port above 1023.')
    default:
      return error
  }
}

const CHOOSE_PORT = 'Choose another with --port, or stop that program.'
const CHOOSE_ADDRESS = 'Choose another with --listen HOST:PORT.'

/** A configuration error: a restart by a supervisor would not help. */
function wrong(field: string, message: string, hint: string): PunctualError {
  return new PunctualError('config_invalid', message, { field, hint })
}

/** Only for a database that several nodes may share. */
function describeAdminToken(file: string, reach: Scheduler['adminTokenReach']): string {
  const path = resolve(file)
  switch (reach?.acceptedBy) {
    case undefined:
      return ''
    case 'every_node':
      return `  token    ${path}, accepted by every node on this database\n`
    case 'this_node':
      return `  token    ${path}, accepted by this node alone
           To join the others, stop this node, put a copy of ${reach.holder ?? 'the admin-token of another node'}
           in its place (mode 0600), and start again.\n`
    case 'none':
      return `  token    ${path} was revoked; remove it and start again to have a new one\n`
  }
}

function banner(facts: {
  url: string
  version: string
  settings: Settings
  scheduler: Scheduler
  worker: Worker | undefined
  tookMs: number
  tokenFile: string
}): string {
  const { url, version, settings, scheduler, worker } = facts
  const admin = describeAdminToken(facts.tokenFile, scheduler.adminTokenReach)
  const work = worker
    ? `1 worker, ${settings.slots} slots`
    : 'none here; start one with `punctual worker`'
  return `Punctual ${version} is ready in ${formatDuration(facts.tookMs)}.
  address  ${url}
  browser  ${url}/ui
  data     ${resolve(settings.dataDir)}  (${scheduler.storeVersion})
  workers  ${work}
${admin}
Try:
  punctual exec -- echo hello
`
}
