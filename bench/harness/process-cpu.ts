import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10

/** Processor time of a process and all its children, also those that are gone; only on Linux. */
export function treeCpuMs(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const { own, gone } = readStat(root) ?? { own: 0, gone: 0 }
  const children = readChildren(root).reduce((sum, child) => sum + child.own, 0)
  return (own + gone + children) * MS_PER_TICK
}

/** Processor time of a process alone; only on Linux. */
export function ownCpuMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return (readStat(pid)?.own ?? 0) * MS_PER_TICK
}

/** Processor time of its children, and of what these have started and seen end; only on Linux. */
export function childrenCpuMs(parent: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return readChildren(parent).reduce((sum, { own, gone }) => sum + own + gone, 0) * MS_PER_TICK
}

interface Stat {
  readonly parent: number
  readonly own: number
  readonly gone: number
}

function readChildren(parent: number): Stat[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) && readStat(Number(name))
    return stat && stat.parent === parent ? [stat] : []
  })
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command's name stands in parentheses and may contain anything, spaces included.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user, system, goneUser, goneSystem] = fields.slice(11) as [
      number,
      number,
      number,
      number,
    ]
    return { parent: fields[1]!, own: user + system, gone: goneUser + goneSystem }
  } catch {
    // It ended while we were looking.
    return undefined
  }
}
