import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readRule } from '../../src/core/schedule/index.ts'
import type { OracleCase } from './cases.ts'
import type { Policy } from './walk.ts'

/** A cron library. `open` throws if it refuses the expression. */
export interface CronLibrary {
  readonly name: string
  open(cron: string, zone: string, after: number, policy: Policy): Next
}

/** The next fire after an instant, in milliseconds; some libraries only continue from the last one. */
type Next = (after: number) => number | null

interface Croner {
  Cron: new (
    pattern: string,
    options: { timezone: string; paused: boolean },
  ) => { nextRun(after: Date): Date | null }
}
interface CronParser {
  CronExpressionParser: {
    parse(
      text: string,
      options: { tz: string; currentDate: Date },
    ): { next(): { getTime(): number } }
  }
}

/** Punctual, behind the same interface as the others. */
export const punctual: CronLibrary = {
  name: 'punctual',
  open(cron, zone, _after, dst) {
    const reading = readRule({ cron, zone, dst })
    if (!reading.ok) throw new Error(reading.problem.message)
    return (after) => reading.rule.next(after)
  },
}

/** The product does not depend on these libraries: `folder` is where they are installed. */
export async function loadCronLibraries(folder: string): Promise<CronLibrary[]> {
  const croner = await load<Croner>(folder, 'croner')
  const parser = await load<CronParser>(folder, 'cron-parser')
  return [
    {
      name: croner.name,
      open(cron, zone) {
        const job = new croner.library.Cron(cron, { timezone: zone, paused: true })
        return (after) => job.nextRun(new Date(after))?.getTime() ?? null
      },
    },
    {
      name: parser.name,
      open(cron, zone, after) {
        const options = { tz: zone, currentDate: new Date(after) }
        const fields = parser.library.CronExpressionParser.parse(cron, options)
        return () => fields.next().getTime()
      },
    },
  ]
}

async function load<Library>(
  folder: string,
  name: string,
): Promise<{ name: string; library: Library }> {
  const require = createRequire(pathToFileURL(resolve(folder, 'package.json')))
  const { version } = require(resolve(folder, 'node_modules', name, 'package.json')) as {
    version: string
  }
  const library = (await import(pathToFileURL(require.resolve(name)).href)) as Library
  return { name: `${name} ${version}`, library }
}

/** The fires in [from, to], in seconds. Stops if a library returns the same time or an earlier one. */
export function firesOf(rival: CronLibrary, { cron, zone, dst, from, to }: OracleCase): number[] {
  const fires: number[] = []
  let at = from * 1_000 - 1
  const next = rival.open(cron, zone, at, dst)
  for (;;) {
    const found = next(at)
    if (found === null || found > to * 1_000) return fires
    if (found <= at) throw new Error('it went back in time')
    fires.push(found / 1_000)
    at = found
  }
}
