import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Identity,
  identityOf,
  type Notes,
  notesDirectory,
  ownIdentity,
  readNotes,
} from './notes.ts'
import { findMarked, kill, killTrees, startedTicks } from './process-tree.ts'

const ROUNDS = 50
/** A process records its own start, possibly late on a busy machine. */
const LATENESS_TICKS = 500

/**
 * Kills the processes that killed launchers of any worker have left behind. A worker does this
 * before it takes work, because an assigned run may be one that still runs here. Returns the number
 * of processes.
 */
export function killLeftovers(directory = notesDirectory()): number {
  return killLeftBy(() => true, directory)
}

/** Kills the processes that one launcher of this worker has left behind. */
export function killLeftoversOf(pid: number, directory: string): void {
  killLeftBy((launcher, self) => launcher.pid === pid && isNeighbour(launcher, self), directory)
}

function killLeftBy(
  matches: (launcher: Identity, self: Identity) => boolean,
  directory: string,
): number {
  if (process.platform !== 'linux' || directory === '') return 0
  const self = ownIdentity()
  let killed = 0
  for (const name of tryTo(() => readdirSync(directory)) ?? []) {
    const launcher = identityOf(name)
    if (!launcher || !matches(launcher, self) || !isGone(launcher, self)) continue
    const path = join(directory, name)
    // Another worker that starts at the same time may have removed the file.
    const notes = tryTo(() => readNotes(path))
    if (!notes) continue
    // After a reboot nothing is left but the file.
    if (launcher.boot === self.boot) killed += killNoted(notes)
    // A cgroup whose dead processes the kernel has not reaped yet is left for the next worker.
    if (!notes.cgroups.some((cgroup) => existsSync(cgroup))) rmSync(path, { force: true })
  }
  return killed
}

function isGone(launcher: Identity, self: Identity): boolean {
  if (launcher.boot !== self.boot) return true
  return isNeighbour(launcher, self) && startedTicks(launcher.pid) !== launcher.started
}

/** Whether process numbers of the other process mean the same to this one. */
function isNeighbour({ boot, namespace }: Identity, self: Identity): boolean {
  return boot === self.boot && namespace === self.namespace
}

function killNoted({ cgroups, processes }: Notes): number {
  let killed = killTreesOf(processes)
  for (const base of cgroups) killed += removeCgroup(base)
  return killed
}

/** Kills all trees in one pass, because each pass reads every process of the machine. */
function killTreesOf(processes: Notes['processes']): number {
  if (processes.length === 0) return 0
  const trees = processes.map(({ pid, ticks, run, fence }) => {
    const mark = { run, fence }
    const started = startedTicks(pid)
    const isLeader = started !== undefined && started <= ticks && started > ticks - LATENESS_TICKS
    // The process number may have been reused; a process with the mark is meant in any case.
    return isLeader ? { leader: pid, mark } : { mark }
  })
  const marks = new Set(trees.map(({ mark }) => `${mark.run} ${mark.fence}`))
  const found = new Set(findMarked(({ run, fence }) => marks.has(`${run} ${fence}`)))
  for (const { leader } of trees) if (leader !== undefined) found.add(leader)
  killTrees(trees)
  return found.size
}

/**
 * Kills the processes in a cgroup and removes it if the kernel allows. Returns the number of
 * processes.
 */
export function removeCgroup(path: string): number {
  let killed = 0
  for (const child of subdirectories(path)) killed += removeCgroup(join(path, child))
  for (let round = 0; round < ROUNDS; round += 1) {
    const pids = tryTo(() => readFileSync(join(path, 'cgroup.procs'), 'latin1')) ?? ''
    const found = pids.split('\n').filter(Boolean).map(Number)
    if (found.length === 0) break
    if (round === 0) killed += found.length
    tryTo(() => writeFileSync(join(path, 'cgroup.kill'), '1'))
    for (const pid of found) kill(pid)
  }
  tryTo(() => rmdirSync(path))
  return killed
}

function subdirectories(path: string): string[] {
  const entries = tryTo(() => readdirSync(path, { withFileTypes: true })) ?? []
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}

/** Ignores errors: a missing file or process needs no clean-up. */
function tryTo<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
