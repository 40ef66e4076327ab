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
/** A process notes its start itself, when the machine gets round to it. */
const LATENESS_TICKS = 500

/**
 * Ends what launchers that were killed have left behind, of whichever worker. A worker does this before
 * it takes work: what it is given may be what is still running here. Says how many processes there were.
 */
export function killLeftovers(directory = notesDirectory()): number {
  return killLeftBy(() => true, directory)
}

/** Ends what one launcher of this process has left behind. */
export function killLeftoversOf(pid: number, directory: string): void {
  killLeftBy((launcher, self) => launcher.pid === pid && isNeighbour(launcher, self), directory)
}

function killLeftBy(
  isMeant: (launcher: Identity, self: Identity) => boolean,
  directory: string,
): number {
  if (process.platform !== 'linux' || directory === '') return 0
  const self = ownIdentity()
  let killed = 0
  for (const name of tryTo(() => readdirSync(directory)) ?? []) {
    const launcher = identityOf(name)
    if (!launcher || !isMeant(launcher, self) || !isGone(launcher, self)) continue
    const path = join(directory, name)
    // Another worker that starts just now may have been faster.
    const notes = tryTo(() => readNotes(path))
    if (!notes) continue
    // Of a machine that was started anew, nothing is left but the note.
    if (launcher.boot === self.boot) killed += killNoted(notes)
    // A group whose dead the kernel has not buried yet is for the next who looks.
    if (!notes.cgroups.some((cgroup) => existsSync(cgroup))) rmSync(path, { force: true })
  }
  return killed
}

function isGone(launcher: Identity, self: Identity): boolean {
  if (launcher.boot !== self.boot) return true
  return isNeighbour(launcher, self) && startedTicks(launcher.pid) !== launcher.started
}

/** Whether its number means to us what it means to itself. */
function isNeighbour({ boot, namespace }: Identity, self: Identity): boolean {
  return boot === self.boot && namespace === self.namespace
}

function killNoted({ cgroups, processes }: Notes): number {
  let killed = killTreesOf(processes)
  for (const base of cgroups) killed += removeCgroup(base)
  return killed
}

/** All of them in one look: a look reads every process of the machine. */
function killTreesOf(processes: Notes['processes']): number {
  if (processes.length === 0) return 0
  const trees = processes.map(({ pid, ticks, run, fence }) => {
    const mark = { run, fence }
    const started = startedTicks(pid)
    const isLeader = started !== undefined && started <= ticks && started > ticks - LATENESS_TICKS
    // A number may have become somebody else's; whoever carries the mark is meant in any case.
    return isLeader ? { leader: pid, mark } : { mark }
  })
  const marks = new Set(trees.map(({ mark }) => `${mark.run} ${mark.fence}`))
  const found = new Set(findMarked(({ run, fence }) => marks.has(`${run} ${fence}`)))
  for (const { leader } of trees) if (leader !== undefined) found.add(leader)
  killTrees(trees)
  return found.size
}

function removeCgroup(path: string): number {
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

/** What is gone already needs no ending. */
function tryTo<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
