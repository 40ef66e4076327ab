import { readdirSync, readFileSync } from 'node:fs'

/** Every process of an attempt has this pair in its environment. */
export interface Mark {
  readonly run: string
  readonly fence: string
}

export const RUN_VARIABLE = 'PUNCTUAL_RUN_ID'
export const FENCE_VARIABLE = 'PUNCTUAL_FENCE'
export const ATTEMPT_VARIABLE = 'PUNCTUAL_ATTEMPT'

/** Limits the cost of a program that forks faster than it is killed. */
const ROUNDS = 50

/** A process and its descendants. */
export interface Tree {
  /** Absent if the tree is known only by its mark. */
  readonly leader?: number | undefined
  readonly mark: Mark
  /** Started so recently that no process number has been reused since. */
  readonly isYoung?: boolean
}

/**
 * Kills all descendants of these processes: their groups, their sessions, their children's
 * children, and processes that broke away but kept their environment. Repeats until nothing is
 * left, because a process may fork during the search. Handles all trees in one pass, because each
 * pass reads every process of the machine.
 */
export function killTrees(trees: readonly Tree[]): void {
  for (const { leader } of trees) if (leader !== undefined) kill(-leader)
  if (process.platform !== 'linux' || trees.length === 0) return
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findTrees(trees)
    if (found.length === 0) return
    // Stop all of them first: a stopped process cannot fork while the others are killed.
    for (const pid of found) kill(pid, 'SIGSTOP')
    for (const pid of found) kill(pid)
  }
}

/** Returns true if there was a process to signal. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

interface Seen {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

function findTrees(trees: readonly Tree[]): number[] {
  const all = listProcesses(trees.every(({ isYoung }) => isYoung) ? youngerThan(trees) : undefined)
  const leaders = new Set(trees.flatMap(({ leader }) => leader ?? []))
  const marks = new Set(trees.map(({ mark }) => nameOf(mark)))
  const members = new Set<number>()
  for (const { pid, group, session } of all) {
    const isOurs = leaders.has(pid) || leaders.has(group) || leaders.has(session)
    if (isOurs || hasMark(pid, marks)) members.add(pid)
  }
  for (let grew = true; grew;) {
    const children = all.filter(({ pid, parent }) => members.has(parent) && !members.has(pid))
    for (const { pid } of children) members.add(pid)
    grew = children.length > 0
  }
  members.delete(process.pid)
  return [...members]
}

/** The attempt that a process belongs to, according to its environment. */
export interface Marked {
  readonly run: string
  readonly fence: string
  readonly attempt: string
}

/** Processes with a mark that `matches` accepts. */
export function findMarked(matches: (mark: Marked) => boolean): number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => {
      const environment = readEnvironment(pid)
      const run = environment?.get(RUN_VARIABLE)
      const fence = environment?.get(FENCE_VARIABLE)
      if (!environment || run === undefined || fence === undefined) return false
      return matches({ run, fence, attempt: environment.get(ATTEMPT_VARIABLE) ?? '' })
    })
}

/**
 * Inits of PID namespaces whose launcher is gone. The kernel is ending them, and each exists until
 * everything in its namespace is dead.
 */
export function findOrphanedInits(): number[] {
  return listProcesses()
    .filter(({ pid }) => readStat(pid)?.name === 'punctual-init')
    .filter(({ parent }) => readStat(parent)?.name !== 'punctual-launch')
    .map(({ pid }) => pid)
}

/** The processes of one attempt. */
export function findAttemptProcesses({ run, fence }: Mark): number[] {
  return findMarked((mark) => mark.run === run && mark.fence === fence)
}

/** Kills all processes of an attempt whose launcher is gone. */
export function killMarked({ run, fence }: { run: string; fence: number }): void {
  if (process.platform !== 'linux') return
  const mark = { run, fence: String(fence) }
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findAttemptProcesses(mark)
    if (found.length === 0) return
    for (const pid of found) kill(pid, 'SIGSTOP')
    for (const pid of found) kill(pid)
  }
}

/** The widest range of process numbers to probe one by one. */
const WIDEST = 1_000

/**
 * The process numbers assigned after these leaders got theirs: all descendants are among them.
 * Numbers are assigned in ascending order, and the last one is at the end of /proc/loadavg.
 */
function youngerThan(trees: readonly Tree[]): number[] | undefined {
  const last = Number(tryRead('/proc/loadavg')?.trim().split(' ').at(-1))
  const first = Math.min(...trees.map(({ leader = 0 }) => leader))
  // After the highest number, the kernel starts again with low ones.
  if (!(last >= first && last - first < WIDEST)) return undefined
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function listProcesses(pids: readonly (number | string)[] = readdirSync('/proc')): Seen[] {
  return pids.flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    const stat = readStat(pid)
    // A zombie is already dead; only its parent can reap it.
    return stat && stat.state !== 'Z' ? [{ pid, ...stat }] : []
  })
}

function readStat(pid: number) {
  const text = tryRead(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name in parentheses may contain anything, including parentheses; numbers follow it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  return {
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    state: fields[0],
    parent: number(1),
    group: number(2),
    session: number(3),
    started: number(19),
  }
}

/** The start time in hundredths of a second after boot; undefined if the process is dead. */
export function startedTicks(pid: number): number | undefined {
  const stat = readStat(pid)
  // Its parent may never reap it: the first process of many containers does not.
  return stat?.state === 'Z' ? undefined : stat?.started
}

export function parentOf(pid: number): number | undefined {
  return readStat(pid)?.parent
}

function hasMark(pid: number, marks: ReadonlySet<string>): boolean {
  const environment = readEnvironment(pid)
  const run = environment?.get(RUN_VARIABLE)
  const fence = environment?.get(FENCE_VARIABLE)
  return run !== undefined && fence !== undefined && marks.has(nameOf({ run, fence }))
}

function nameOf({ run, fence }: Mark): string {
  return `${run}/${fence}`
}

function readEnvironment(pid: number): Map<string, string> | undefined {
  const text = tryRead(`/proc/${pid}/environ`)
  if (!text?.includes('PUNCTUAL_')) return undefined
  return new Map(
    text.split('\0').map((pair): [string, string] => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process ended meanwhile, or belongs to another user.
    return undefined
  }
}
