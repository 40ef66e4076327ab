import { PunctualError } from '../errors.ts'

/** Times in the API. */

const TIME = /^\d{4}-(\d\d)-(\d\d)T(\d\d):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](\d\d):\d\d)$/

/**
 * Reads RFC 3339 with a zone, to the millisecond. A time without a zone is ambiguous, and an impossible date (30
 * February) or a leap second would be moved silently, so they are rejected.
 */
export function parseTime(text: string, field: string): number {
  const [, month, day, hour, zone] = TIME.exec(text) ?? []
  const ms = Date.parse(text)
  const isReal = Number(day) <= daysIn(Number(text.slice(0, 4)), Number(month))
  if (Number.isFinite(ms) && isReal && Number(hour) < 24 && Number(zone ?? 0) < 24) return ms
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  const message = `${field} must be a time with its zone, like 2026-01-31T09:00:00Z, not "${shown}"`
  throw new PunctualError('invalid_field', message, { field })
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

export function formatTime(ms: number, field: string): string {
  const date = new Date(ms)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new PunctualError('invalid_field', `${field} must be milliseconds since 1970`, { field })
}
