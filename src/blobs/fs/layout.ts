import { createHash } from 'node:crypto'

/** Keeps folders at a few thousand files each, instead of a million in one. */
export const SHARDS = Array.from({ length: 256 }, (_, fan) => fan.toString(16).padStart(2, '0'))

/** The folder for unfinished files; not a valid name of an area. */
export const UNFINISHED = '.unfinished'

/** Maps `area/label-digest` to `area/3f/label-digest`, evenly distributed for any labels. */
export function pathOfKey(key: string): string {
  const [area = '', name = ''] = key.split('/')
  const fan = createHash('sha256').update(name).digest('hex').slice(0, 2)
  return `${area}/${fan}/${name}`
}
