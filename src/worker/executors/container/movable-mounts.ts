import { readlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PunctualError } from '../../../core/errors.ts'
import type { AllowedMount } from './allowed-mounts.ts'
import { isBelow } from './is-below.ts'

/** A path with more links than this is an error: the kernel has the same limit. */
const MOST_LINKS = 40

/**
 * Refuses paths that containers could redirect. A container that may write to `/data` can replace
 * `/data/x` with a link to `/`; if `/data/x` were allowed as well, everything would be from then
 * on.
 */
export function refuseMovable(allowed: readonly AllowedMount[]): void {
  const ways = allowed.map((mount) => ({
    ...mount,
    name: nameOf(mount),
    ...resolveThrough(mount.path),
  }))
  const open = ways.filter(({ isReadonly }) => !isReadonly)
  for (const { name, through, end, isReadonly } of ways) {
    const above = open.find((root) => through.some((directory) => isBelow(directory, root.end)))
    if (above) {
      const why = `the way leads to ${name} through ${above.name}, and containers that may write there can lead it anywhere`
      throw wrong(`${why}: leave one of them out, or allow ${above.path}:ro`)
    }
    const other = isReadonly && open.find((root) => root.end === end)
    if (other) {
      const what = 'are the same directory, once to read and once to write'
      throw wrong(`${name} and ${other.name} ${what}: leave one of them out`)
    }
  }
}

/**
 * The end of a path, with links resolved, and every directory in which one of its names is looked
 * up.
 */
function resolveThrough(path: string): {
  readonly through: readonly string[]
  readonly end: string
} {
  const through: string[] = []
  let here = '/'
  let names = namesOf(resolve(path))
  for (let links = 0; names.length > 0;) {
    const [name = '', ...rest] = names
    through.push(here)
    const next = join(here, name)
    const target = links < MOST_LINKS ? targetOf(next) : undefined
    if (target === undefined) {
      here = next
      names = rest
    } else {
      links += 1
      names = namesOf(resolve(here, target, ...rest))
      here = '/'
    }
  }
  return { through, end: here }
}

/**
 * A missing path is not a link; a process that creates one later can already write to its
 * directory.
 */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function nameOf({ path, isReadonly }: AllowedMount): string {
  return isReadonly ? `${path}:ro` : path
}

function wrong(what: string): PunctualError {
  return new PunctualError('config_invalid', `allow-mount: ${what}`, { field: 'allow-mount' })
}
