import type { Dump, DumpedRun } from './history.ts'

/** State names by their stored code in both databases. Copied from the product on purpose. */
const STATES = [
  'ready',
  'running',
  'scheduled',
  'blocked',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
]
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_LENGTH = 11

/** The rows of a database before they are converted to names and public ids. */
export interface DumpRows {
  readonly runs: readonly RunRow[]
  readonly ends: readonly { readonly id: number; readonly state: number }[]
  readonly attempts: readonly {
    readonly id: number
    readonly fence: number
    readonly cause: string
  }[]
  readonly leftovers: Readonly<Record<string, number>>
}

export interface RunRow {
  readonly id: number
  readonly state: number
  readonly fence: number | null
  readonly cause: string | null
  readonly input: string | null
  readonly result: string | null
}

export function toDump({ runs, ends, attempts, leftovers }: DumpRows): Dump {
  return {
    runs: runs.map(toRun),
    ends: ends.map(({ id, state }) => ({ run: toPublicId(id), state: stateName(state) })),
    attempts: attempts.map(({ id, fence, cause }) => ({ run: toPublicId(id), fence, cause })),
    leftovers,
  }
}

function toRun({ id, state, fence, cause, input, result }: RunRow): DumpedRun {
  const { key = '' } = JSON.parse(input ?? '{}') as { key?: string }
  const { fence: resultFence = null } = JSON.parse(result ?? '{}') as { fence?: number }
  return { run: toPublicId(id), key, state: stateName(state), fence, cause, resultFence }
}

export function stateName(code: number): string {
  return STATES[code] ?? `in state ${code}`
}

export function toPublicId(id: number): string {
  const digits = Array.from({ length: ID_LENGTH }, (_, place) => {
    const value = Math.floor(id / 32 ** (ID_LENGTH - 1 - place)) % 32
    return DIGITS.charAt(value)
  })
  return `run_${digits.join('')}`
}
