import { hash } from 'node:crypto'
import { LARGEST_NUMBER } from './job-number.ts'

/** Jobs under UUIDs, for those who know them by no other name. */
export interface JobUuids {
  of(id: number): string
  /** `undefined` for what is no UUID of a job here. */
  read(uuid: string): number | undefined
}

/** Of an id, the part that the last of the five groups holds. */
const LOW = 2 ** 48
const UUID = /^([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/i

/**
 * A UUID of version 8, which leaves its bits to whoever makes it: the first half says which
 * installation, so that no two of them give out the same, and the second is the job's own number.
 */
export function createJobUuids(installation: string): JobUuids {
  const bits = hash('sha256', installation)
  const home = `${bits.slice(0, 8)}-${bits.slice(8, 12)}-8${bits.slice(12, 15)}`
  return {
    of(id) {
      const high = (0x8000 + Math.floor(id / LOW)).toString(16)
      return `${home}-${high}-${(id % LOW).toString(16).padStart(12, '0')}`
    },
    read(uuid) {
      const [, where, high, low] = UUID.exec(uuid) ?? []
      if (where?.toLowerCase() !== home) return undefined
      const id = (Number.parseInt(high!, 16) - 0x8000) * LOW + Number.parseInt(low!, 16)
      return id <= LARGEST_NUMBER ? id : undefined
    },
  }
}
