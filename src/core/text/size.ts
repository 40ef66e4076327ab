import { PunctualError } from '../errors.ts'

const UNIT_BYTES = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
} as const
type Unit = keyof typeof UNIT_BYTES
const SIZE = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB|kB|MB|GB)$/

/** Reads `64KiB`, `1.5MB`, `10B`. */
export function parseSize(text: string, field = 'size'): number {
  const match = SIZE.exec(text)
  const bytes = match ? Number(match[1]) * UNIT_BYTES[match[2] as Unit] : Number.NaN
  if (Number.isSafeInteger(Math.round(bytes))) return Math.round(bytes)
  throw new PunctualError('invalid_field', `${field} is not a size (try 64KiB, 10MB)`, { field })
}

/** The exact size in the largest unit without a remainder; `parseSize` reads it back. */
export function writeSize(bytes: number): string {
  const unit = (['GiB', 'MiB', 'KiB'] as const).find((one) => bytes % UNIT_BYTES[one] === 0)
  return bytes === 0 || unit === undefined ? `${bytes}B` : `${bytes / UNIT_BYTES[unit]}${unit}`
}

/** `1.5 MiB`, `640 B`: binary units, with one decimal where it matters. */
export function formatSize(bytes: number): string {
  let value = bytes
  for (const unit of ['B', 'KiB', 'MiB'] as const) {
    if (Math.round(value) < 1024) return `${shorten(value)} ${unit}`
    value /= 1024
  }
  return `${shorten(value)} GiB`
}

function shorten(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(1)))
}
