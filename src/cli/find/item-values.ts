import type { WireStepItem } from '../../core/workflow/views/step-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless } from '../terminal/terminal.ts'

/** The items of a larger fan-out are shown without values: each value costs a request. */
const MOST_ITEMS = 200
const AT_ONCE = 8

/**
 * The value of each item of a fan-out, by item. The server has no list of values, but each item's
 * run shows its value in its input, variables, arguments or URL. Parts that are equal for all items
 * are left out.
 */
export async function itemValues(
  calls: ServerCalls,
  items: readonly WireStepItem[],
): Promise<ReadonlyMap<number, string>> {
  if (items.length > MOST_ITEMS) return new Map()
  const parts = new Map<number, ReadonlyMap<string, string>>()
  const left = items.flatMap(({ item, run }) => (run === null ? [] : [{ item, id: run.id }]))
  while (left.length > 0) {
    const some = left.splice(0, AT_ONCE)
    const runs = await Promise.all(
      some.map(({ id }) => calls.call<WireRun>('GET', `/v1/runs/${id}`)),
    )
    for (const [index, run] of runs.entries()) {
      parts.set((some[index] as (typeof some)[number]).item, partsOf(run))
    }
  }
  const differing = differingNames([...parts.values()])
  return new Map(Array.from(parts, ([item, own]) => [item, valueOf(own, differing)]))
}

/** The inputs of a run by name; any of them may contain the item's value. */
function partsOf({ input, work }: WireRun): ReadonlyMap<string, string> {
  const parts = new Map<string, string>()
  const add = (name: string, value: unknown) => {
    if (value === null || value === undefined) return
    parts.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  if (!isObject) add('input', input)
  else for (const [name, value] of Object.entries(input)) add(`input.${name}`, value)
  for (const [name, value] of Object.entries(work?.env ?? {})) add(`env.${name}`, value)
  for (const name of ['run', 'script', 'argv', 'url', 'command', 'stdin'] as const) {
    add(name, (work as Readonly<Record<string, unknown>> | null)?.[name])
  }
  return parts
}

/**
 * The names of the parts whose value is not equal for all items. A single item has nothing to compare
 * with: the result then names its input and its variables, or its first part if it has neither.
 */
function differingNames(all: readonly ReadonlyMap<string, string>[]): ReadonlySet<string> {
  const names = new Set(all.flatMap((parts) => [...parts.keys()]))
  if (all.length < 2) {
    const given = [...names].filter((name) => /^(?:input|env)(?:\.|$)/.test(name))
    return new Set(given.length > 0 ? given : [...names].slice(0, 1))
  }
  const isSame = (name: string) => new Set(all.map((parts) => parts.get(name))).size === 1
  return new Set([...names].filter((name) => !isSame(name)))
}

function valueOf(parts: ReadonlyMap<string, string>, differing: ReadonlySet<string>): string {
  const values = [...parts].filter(([name]) => differing.has(name)).map(([, value]) => value)
  return harmless([...new Set(values)].join(' ')).replaceAll(/\s+/g, ' ')
}
