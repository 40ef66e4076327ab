import { zoneNamed } from './zones/zone-names.ts'

/** The local time of a zone at an instant, with its offset: `2026-03-29T03:00:00+03:00`. */
export function localTime(ms: number, zone: string): string {
  const offset = zoneNamed(zone).periodAt(Math.floor(ms / 1_000)).offset
  const local = new Date(ms + offset * 1_000).toISOString().replace(/(?:\.000)?Z$/, '')
  return local + showOffset(offset)
}

/** `+02:00`; the seconds of historical offsets are omitted, because RFC 3339 cannot write them. */
export function showOffset(seconds: number): string {
  const minutes = Math.floor(Math.abs(seconds) / 60)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
