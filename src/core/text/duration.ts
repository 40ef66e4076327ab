import { PunctualError } from '../errors.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof UNIT_MS
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/y
/** The largest duration. It is far beyond any use, and exact wherever a duration is stored or added to a time. */
export const MAX_DURATION_MS = 100 * 366 * UNIT_MS.d

/** Reads `1h30m`, `90s`, `250ms`; rejects bare numbers, because their unit would be a guess. */
export function parseDuration(text: string, field = 'duration'): number {
  let total = 0
  let at = 0
  while (at < text.length) {
    PART.lastIndex = at
    const part = PART.exec(text)
    if (!part) throw invalid(text, field)
    total += Number(part[1]) * UNIT_MS[part[2] as Unit]
    at = PART.lastIndex
  }
  if (text === '') throw invalid(text, field)
  if (total > MAX_DURATION_MS) {
    const message = `${field} is longer than ${MAX_DURATION_MS / UNIT_MS.d}d`
    throw new PunctualError('invalid_field', message, { field })
  }
  return Math.round(total)
}

/** The exact duration in the form that requests use; `parseDuration` reads it back. */
export function writeDuration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `${ms}ms`
}

/** The two largest units, for display: `1h 30m`, `2d`, `850ms`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)}ms`
  const parts: string[] = []
  let rest = Math.round(ms / 1_000) * 1_000
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(rest / UNIT_MS[unit])
    rest -= count * UNIT_MS[unit]
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.slice(0, 2).join(' ')
}

function invalid(text: string, field: string): PunctualError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return new PunctualError(
    'invalid_field',
    `${field} is not a duration: "${shown}" (try 90s, 15m, 1h30m)`,
    {
      field,
    },
  )
}
