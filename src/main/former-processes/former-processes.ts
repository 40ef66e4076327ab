import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killLeftovers, removeCgroup } from '../../worker/launcher/leftovers.ts'
import { isCgroupGone, isHierarchySeen, readLockFile } from '../../worker/launcher/lock-file.ts'
import { nativeLauncher } from '../../worker/launcher/native-binary.ts'
import { identityOf, nameOf, ownIdentity } from '../../worker/launcher/notes.ts'
import { findOrphanedInits, kill, startedTicks } from '../../worker/launcher/process-tree.ts'
import {
  LOCKS,
  PROCESSES,
  readRecord,
  type RecordedSessions,
  removeRecord,
} from './process-record.ts'

export interface Waits {
  /**
   * A launcher kills everything within milliseconds of its worker's death, unless it is stopped.
   */
  readonly patienceMs: number
  /**
   * After it is continued, a launcher searches for its processes for `SWEEP_LIMIT` before it exits.
   */
  readonly sweepMs: number
  /** After this time, every lease has expired anyway. */
  readonly limitMs: number
}
export const WAITS: Waits = { patienceMs: 1_000, sweepMs: 10_000, limitMs: 60_000 }
const POLL_MS = 20
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 10_000
/**
 * How long the record of a process is kept that may run on another machine or in another container.
 */
const KEPT_ELSEWHERE_MS = 7 * 24 * 3_600_000

export interface SettleOptions {
  /** Reports what must end before the attempts of these sessions count as lost. */
  onAwait(sessions: readonly string[], what: string): void
  /** Nothing that these sessions started is left. Called again if it fails. */
  onGone(sessions: readonly string[]): Promise<void>
  onError(error: unknown): void
  /** Wall time. */
  now(): number
  readonly signal: AbortSignal
  /** Other waits than the defaults, for tests. */
  readonly waits?: Waits
}

/**
 * Proves for each earlier server process on this data directory that everything its worker started
 * is gone, and reports that. Sessions without a proof wait until their leases expire.
 */
export async function settleFormerProcesses(
  dataDir: string,
  settling: SettleOptions,
): Promise<void> {
  if (process.platform !== 'linux') return
  const directory = join(resolve(dataDir), PROCESSES)
  const names = existsSync(directory) ? readdirSync(directory) : []
  // A failure of one must not hide the failures of the others.
  const settled = names.map((name) =>
    settle(join(directory, name), name, settling).catch(settling.onError),
  )
  await Promise.all(settled)
}

async function settle(path: string, name: string, settling: SettleOptions): Promise<void> {
  const former = identityOf(name)
  const own = ownIdentity()
  if (!former || name === nameOf(own)) return
  const record = readRecord(path)
  // Process numbers of another boot may belong to another machine, and those of another PID
  // namespace mean nothing here.
  if (former.boot !== own.boot || former.namespace !== own.namespace) {
    if (record) settling.onAwait(record.sessions, ELSEWHERE)
    // Its process may still run; then its launchers hold their locks in that directory.
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    if (settling.now() - changedAt > KEPT_ELSEWHERE_MS) removeRecord(path)
    return
  }
  if (startedTicks(former.pid) === former.started) return
  if (record) await settleRecorded(path, record, settling)
  // The next process continues an interrupted release.
  if (!settling.signal.aborted) removeRecord(path)
}

async function settleRecorded(
  path: string,
  record: RecordedSessions,
  settling: SettleOptions,
): Promise<void> {
  settling.onAwait(record.sessions, ON_LAUNCHERS)
  const isProved = await areLaunchersGone(join(path, LOCKS), record, settling)
  if (settling.signal.aborted) return
  if (isProved) await release(record.sessions, settling)
  else settling.onAwait(record.sessions, UNPROVED)
}

async function release(sessions: readonly string[], settling: SettleOptions): Promise<void> {
  const { signal } = settling
  settling.onAwait(sessions, ON_STORE)
  for (
    let pauseMs = FIRST_RETRY_MS;
    !signal.aborted;
    pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)
  ) {
    try {
      return await settling.onGone(sessions)
    } catch (error) {
      settling.onError(error)
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
}

const ON_LAUNCHERS = 'a launcher of that process has not yet ended everything it started'
const ON_STORE = 'everything it had started is gone, and the store has not recorded that yet'
const UNPROVED = 'it cannot be proved that everything it had started is gone'
const ELSEWHERE = 'that process was started in another container or before the last boot'

/** Only a launcher's own record or the kernel is a proof; a missing file is none. */
async function areLaunchersGone(
  locks: string,
  { containment, launchers }: RecordedSessions,
  settling: SettleOptions,
): Promise<boolean> {
  // Includes launchers that are not recorded, because they had only been started.
  const names = [...new Set([...launchers, ...filesIn(locks)])]
  if (launchers.length === 0) return false
  if (!(await waitForLocks(locks, names, { containment, ...settling }))) return false
  // Kills the processes of launchers that were killed themselves.
  killLeftovers()
  const found = names.map((name) => readLockFile(join(locks, name)))
  if (found.includes(undefined)) return false
  const killed = found.filter((lock) => lock?.hasEnded === false)
  if (killed.length === 0) return true
  switch (containment) {
    case 'pidns':
      return waitUntil(() => findOrphanedInits().length === 0, settling)
    case 'cgroup': {
      const cgroups = killed.flatMap((lock) => lock?.cgroup ?? [])
      if (cgroups.length < killed.length || !cgroups.every(isHierarchySeen)) return false
      return waitUntil(() => {
        for (const { path } of cgroups) removeCgroup(path)
        return cgroups.every(isCgroupGone)
      }, settling)
    }
    case 'group':
      return false
  }
}

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}

async function waitForLocks(
  locks: string,
  names: readonly string[],
  { containment, signal, waits = WAITS }: Pick<RecordedSessions, 'containment'> & SettleOptions,
): Promise<boolean> {
  const native = await nativeLauncher()
  if (!('path' in native)) return false
  const files = names.map((name) => join(locks, name))
  const waiting = spawn(native.path, ['await', ...files], { stdio: 'ignore' })
  const ended = once(waiting, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
  try {
    if (await isOver(waiting, ended, waits.patienceMs, signal)) return ended
    if (signal.aborted) return false
    // A launcher that was stopped continues, and kills its processes.
    for (const name of names) signalLauncher(name, 'SIGCONT')
    // At level `group`, only the launcher can find processes that broke away; without it there is
    // no proof.
    if (containment !== 'group') {
      if (await isOver(waiting, ended, waits.sweepMs, signal)) return ended
      if (signal.aborted) return false
      for (const name of names) signalLauncher(name, 'SIGKILL')
    }
    return (await isOver(waiting, ended, waits.limitMs, signal)) && ended
  } finally {
    waiting.kill('SIGKILL')
  }
}

async function isOver(
  { exitCode }: ChildProcess,
  ended: Promise<boolean>,
  mostMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (exitCode !== null) return true
  const finished = new AbortController()
  const late = sleep(mostMs, false, { signal: AbortSignal.any([signal, finished.signal]) })
  const isEnded = await Promise.race([ended.then(() => true), late.catch(() => false)])
  finished.abort()
  return isEnded
}

function signalLauncher(name: string, signal: NodeJS.Signals): void {
  const launcher = identityOf(name)
  if (launcher && startedTicks(launcher.pid) === launcher.started) kill(launcher.pid, signal)
}

async function waitUntil(
  isSo: () => boolean,
  { signal, waits = WAITS }: SettleOptions,
): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < waits.limitMs && !signal.aborted; waitedMs += POLL_MS) {
    if (isSo()) return true
    await sleep(POLL_MS)
  }
  return false
}
