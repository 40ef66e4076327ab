import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10

/** Processor time of a process and its direct children, including children already reaped; Linux only. */
export function treeCpuMs(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const { ownTicks, reapedTicks } = readStat(root) ?? { ownTicks: 0, reapedTicks: 0 }
  const children = readChildren(root).reduce((sum, child) => sum + child.ownTicks, 0)
  return (ownTicks + reapedTicks + children) * MS_PER_TICK
}

/** Processor time of the process alone, without children; Linux only. */
export function ownCpuMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return (readStat(pid)?.ownTicks ?? 0) * MS_PER_TICK
}

/** Processor time of the live children of a process and of the children these have reaped; Linux only. */
export function childrenCpuMs(parent: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return (
    readChildren(parent).reduce(
      (sum, { ownTicks, reapedTicks }) => sum + ownTicks + reapedTicks,
      0,
    ) * MS_PER_TICK
  )
}

interface Stat {
  readonly parentPid: number
  readonly ownTicks: number
  readonly reapedTicks: number
}

function readChildren(parent: number): Stat[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) && readStat(Number(name))
    return stat && stat.parentPid === parent ? [stat] : []
  })
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name is in parentheses and may contain any character, including spaces and parentheses.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user, system, reapedUser, reapedSystem] = fields.slice(11) as [
      number,
      number,
      number,
      number,
    ]
    return {
      parentPid: fields[1]!,
      ownTicks: user + system,
      reapedTicks: reapedUser + reapedSystem,
    }
  } catch {
    // The process exited in the meantime.
    return undefined
  }
}
