import { hash } from 'node:crypto'
import { LARGEST_NUMBER } from './job-number.ts'

/** Ids of one kind as UUIDs, for programs that know no other form. */
export interface Uuids {
  of(id: number): string
  /** `undefined` for text that is no UUID of this kind of this installation. */
  read(uuid: string): number | undefined
}

/** The part of an id that the last of the five groups holds. */
const LOW = 2 ** 48
const UUID = /^([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/i

/**
 * UUIDs of version 8, which leaves the content to the application: the first half is a hash of the
 * installation and the kind, so that different installations and kinds never give out the same
 * UUID, and the second half is the id.
 */
function createUuids(seed: string, largest: number): Uuids {
  const bits = hash('sha256', seed)
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
      return id <= largest ? id : undefined
    },
  }
}

/** Jobs had UUIDs before runs did, so their seed names no kind. */
export function createJobUuids(installation: string): Uuids {
  return createUuids(installation, LARGEST_NUMBER)
}

export function createRunUuids(installation: string): Uuids {
  return createUuids(`${installation}\nrun`, Number.MAX_SAFE_INTEGER)
}
