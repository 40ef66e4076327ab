import { readdirSync, readFileSync } from 'node:fs'

/** Every process of an attempt carries this pair in its environment, wherever it went. */
export interface Mark {
  readonly run: string
  readonly fence: string
}

export const RUN_VARIABLE = 'PUNCTUAL_RUN_ID'
export const FENCE_VARIABLE = 'PUNCTUAL_FENCE'
export const ATTEMPT_VARIABLE = 'PUNCTUAL_ATTEMPT'

/** Bounds what a program that forks faster than it is killed can cost us. */
const ROUNDS = 50

/** What descends from one process. */
export interface Tree {
  /** Unless it is known only by its mark. */
  readonly leader?: number | undefined
  readonly mark: Mark
  /** Started so recently that no process number has been used twice since. */
  readonly isYoung?: boolean
}

/**
 * Ends everything that descends from these processes: their groups, their sessions, their children's
 * children, and whatever broke away but kept its environment. Looks again until nothing is left,
 * because a process may fork while it is being looked for. All trees in one look: a look reads every
 * process of the machine.
 */
export function killTrees(trees: readonly Tree[]): void {
  for (const { leader } of trees) if (leader !== undefined) kill(-leader)
  if (process.platform !== 'linux' || trees.length === 0) return
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findTrees(trees)
    if (found.length === 0) return
    // Stopped first: what cannot run cannot fork while the others are killed.
    for (const pid of found) kill(pid, 'SIGSTOP')
    for (const pid of found) kill(pid)
  }
}

/** True if there was somebody to signal. */
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

/** What a process says of the attempt it belongs to. */
export interface Marked {
  readonly run: string
  readonly fence: string
  readonly attempt: string
}

/** Processes whose mark is meant. */
export function findMarked(isMeant: (mark: Marked) => boolean): number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => {
      const environment = readEnvironment(pid)
      const run = environment?.get(RUN_VARIABLE)
      const fence = environment?.get(FENCE_VARIABLE)
      if (!environment || run === undefined || fence === undefined) return false
      return isMeant({ run, fence, attempt: environment.get(ATTEMPT_VARIABLE) ?? '' })
    })
}

/** Processes of one attempt. */
export function findOf({ run, fence }: Mark): number[] {
  return findMarked((mark) => mark.run === run && mark.fence === fence)
}

/** Ends all of them, when the launcher that knew their leader is gone. */
export function killMarked({ run, fence }: { run: string; fence: number }): void {
  if (process.platform !== 'linux') return
  const mark = { run, fence: String(fence) }
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findOf(mark)
    if (found.length === 0) return
    for (const pid of found) kill(pid, 'SIGSTOP')
    for (const pid of found) kill(pid)
  }
}

/** A range wider than this is not walked number by number. */
const WIDEST = 1_000

/**
 * The numbers given to processes since these leaders got theirs: whatever descends from them has one of
 * those. Numbers are given in order, and the last one given is the last word of a small file.
 */
function youngerThan(trees: readonly Tree[]): number[] | undefined {
  const last = Number(tryRead('/proc/loadavg')?.trim().split(' ').at(-1))
  const first = Math.min(...trees.map(({ leader = 0 }) => leader))
  // Beyond the highest number they begin again with low ones.
  if (!(last >= first && last - first < WIDEST)) return undefined
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function listProcesses(pids: readonly (number | string)[] = readdirSync('/proc')): Seen[] {
  return pids.flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    const stat = readStat(pid)
    // A zombie is dead already; only its parent can bury it.
    return stat && stat.state !== 'Z' ? [{ pid, ...stat }] : []
  })
}

function readStat(pid: number) {
  const text = tryRead(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name in parentheses may hold anything, parentheses too; what follows it is numbers.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  return {
    state: fields[0],
    parent: number(1),
    group: number(2),
    session: number(3),
    started: number(19),
  }
}

/** When it was started, in hundredths of a second after the machine was, unless it is dead. */
export function startedTicks(pid: number): number | undefined {
  const stat = readStat(pid)
  // Its parent may never bury it: the first process of many a container does not.
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
    // Gone meanwhile, or somebody else's.
    return undefined
  }
}
