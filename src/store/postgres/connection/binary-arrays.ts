import { StoreError } from '../../port.ts'

/**
 * Array parameters in PostgreSQL's binary format. `pg` sends a Buffer as a binary parameter, and a
 * cast such as `$1::bigint[]` gives the server its type; this costs a third of what pg's own text
 * arrays cost. A list of nulls becomes NULL: `unnest` pads its column with nulls.
 */
export type ArrayParameter = Buffer | null

const OID = { boolean: 16, bytea: 17, bigint: 20, smallint: 21, int: 23, text: 25 } as const
const HEADER_BYTES = 20
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
const TWO_32 = 2 ** 32

type Nullable<T> = readonly (T | null)[]

export function bigints(values: Nullable<number>): ArrayParameter {
  return integers(values, 'bigint', 8, Number.MAX_SAFE_INTEGER)
}

export function ints(values: Nullable<number>): ArrayParameter {
  return integers(values, 'int', 4, 2 ** 31 - 1)
}

export function smallints(values: Nullable<number>): ArrayParameter {
  return integers(values, 'smallint', 2, 2 ** 15 - 1)
}

export function booleans(values: Nullable<boolean>): ArrayParameter {
  if (isBare(values)) return null
  const buffer = startArray('boolean', values.length, values.length)
  let at = HEADER_BYTES
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : 1, at)
    if (value !== null) at = buffer.writeUInt8(value ? 1 : 0, at)
  }
  return buffer.subarray(0, at)
}

export function texts(values: Nullable<string>): ArrayParameter {
  if (isBare(values)) return null
  let bytes = 0
  for (const value of values) bytes += value === null ? 0 : Buffer.byteLength(value)
  const buffer = startArray('text', values.length, bytes)
  let at = HEADER_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    const length = buffer.write(value, at + LENGTH_BYTES)
    at = buffer.writeInt32BE(length, at) + length
  }
  return buffer
}

export function bytes(values: Nullable<Uint8Array>): ArrayParameter {
  if (isBare(values)) return null
  const length = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
  const buffer = startArray('bytea', values.length, length)
  let at = HEADER_BYTES
  for (const value of values) {
    at = buffer.writeInt32BE(value?.length ?? NULL_LENGTH, at)
    if (value === null) continue
    buffer.set(value, at)
    at += value.length
  }
  return buffer
}

type IntegerType = 'bigint' | 'int' | 'smallint'

/** Refuses a value that the column cannot hold exactly, before anything is sent. */
function integers(
  values: Nullable<number>,
  type: IntegerType,
  width: number,
  max: number,
): ArrayParameter {
  if (isBare(values)) return null
  const buffer = startArray(type, values.length, values.length * width)
  let at = HEADER_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(NULL_LENGTH, at)
      continue
    }
    if (!Number.isInteger(value) || value > max || value < -max) {
      throw new StoreError('refused', `${value} is not a ${type}`)
    }
    at = writeInteger(buffer, value, width, buffer.writeInt32BE(width, at))
  }
  return buffer.subarray(0, at)
}

function writeInteger(buffer: Buffer, value: number, width: number, at: number): number {
  if (width === 2) return buffer.writeInt16BE(value, at)
  if (width === 4) return buffer.writeInt32BE(value, at)
  const high = Math.floor(value / TWO_32)
  return buffer.writeUInt32BE(value - high * TWO_32, buffer.writeInt32BE(high, at))
}

function isBare(values: Nullable<unknown>): boolean {
  return values.every((value) => value === null)
}

/** One dimension, counted from 1, nulls allowed; room for the lengths and for `bytes` of values. */
function startArray(type: keyof typeof OID, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + length * LENGTH_BYTES + bytes)
  let at = buffer.writeInt32BE(1, 0)
  at = buffer.writeInt32BE(1, at)
  at = buffer.writeInt32BE(OID[type], at)
  at = buffer.writeInt32BE(length, at)
  buffer.writeInt32BE(1, at)
  return buffer
}
