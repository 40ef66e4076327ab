/** One difference between two definitions; undefined where a side lacks the field. */
export interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** All differences between two values, down to the smallest differing field. */
export function changesBetween(from: unknown, to: unknown, field = ''): Change[] {
  if (isBranch(from) && isBranch(to) && Array.isArray(from) === Array.isArray(to)) {
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])]
    return names.flatMap((name) => {
      const place = field === '' ? name : `${field}.${name}`
      return changesBetween(from[name], to[name], place)
    })
  }
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to }]
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const LONGEST = 60

/** `timeout: 5m → 10m`, `+ retry.max: 3`, `- owner: ops`. */
export function showChange({ field, from, to }: Change): string {
  if (from === undefined) return `+ ${field}: ${shortly(to)}`
  if (to === undefined) return `- ${field}: ${shortly(from)}`
  return `~ ${field}: ${shortly(from)} → ${shortly(to)}`
}

function shortly(value: unknown): string {
  const text = typeof value === 'string' && !/[\n:]/.test(value) ? value : JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
