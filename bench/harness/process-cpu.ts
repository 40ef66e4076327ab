import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10

/** Processor time of a process and all its children, also those that are gone; only on Linux. */
export function treeCpuMs(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) && readStat(name)
    if (!stat) continue
    if (Number(name) === root) ticks += stat.own + stat.gone
    else if (stat.parent === root) ticks += stat.own
  }
  return ticks * MS_PER_TICK
}

function readStat(pid: string): { parent: number; own: number; gone: number } | undefined {
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
