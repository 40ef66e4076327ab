import { createHash } from 'node:crypto'

/** A few thousand files each, where one folder would have a million. */
export const FANS = Array.from({ length: 256 }, (_, fan) => fan.toString(16).padStart(2, '0'))

/** No area is called like that: files that are not whole yet. */
export const UNFINISHED = '.unfinished'

/** `area/label-digest` as `area/3f/label-digest`, spread evenly whatever labels look like. */
export function fileOf(key: string): string {
  const [area = '', name = ''] = key.split('/')
  const fan = createHash('sha256').update(name).digest('hex').slice(0, 2)
  return `${area}/${fan}/${name}`
}
