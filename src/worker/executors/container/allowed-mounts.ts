import { realpathSync } from 'node:fs'
import { PunctualError } from '../../../core/errors.ts'
import type { Mount } from '../../../core/work/container-work.ts'
import { isBelow } from './is-below.ts'

/** A directory of this machine that containers may read, and write to unless it is read-only. */
export interface AllowedMount {
  readonly path: string
  readonly isReadonly: boolean
}

/** Reads `/data` and `/data:ro`. */
export function parseAllowedMount(text: string): AllowedMount {
  const [, path, mode] = /^(\/[^:]*)(:ro|:rw)?$/.exec(text) ?? []
  if (path === undefined) {
    const message = `allow-mount: ${text} is not an absolute path, with :ro or without`
    throw new PunctualError('config_invalid', message, { field: 'allow-mount' })
  }
  return { path, isReadonly: mode === ':ro' }
}

/** The mounts with all links resolved, or a message that names the mount which is not allowed. */
export function allowMounts(
  mounts: readonly Mount[],
  allowed: readonly AllowedMount[],
): readonly Mount[] | { readonly refused: string } {
  const real: Mount[] = []
  for (const mount of mounts) {
    const source = realPath(mount.source)
    const roots = allowed.filter(({ path }) => isBelow(source ?? mount.source, realPath(path)))
    if (roots.length === 0) {
      const help = `start it with --allow-mount ${mount.source}`
      return { refused: `this worker does not let containers see ${mount.source}: ${help}` }
    }
    if (source === undefined) return { refused: `${mount.source} does not exist on this worker` }
    if (!mount.readonly && roots.every(({ isReadonly }) => isReadonly)) {
      return { refused: `this worker lets containers only read ${mount.source}: mount it readonly` }
    }
    const above = openAbove(source, allowed)
    if (above !== undefined) {
      const help = `mount ${above} itself, or allow ${source} and not ${above}`
      return {
        refused: `containers may write to ${above}, so what is below it can become something else while it is mounted: ${help}`,
      }
    }
    if (/[,:"]/.test(source)) return { refused: `${source} has a name that cannot be mounted` }
    real.push({ ...mount, source })
  }
  return real
}

/**
 * A parent directory that containers may write to. The engine resolves the path again later: a
 * container that can write there could replace a component with a link to anything in the meantime.
 */
function openAbove(source: string, allowed: readonly AllowedMount[]): string | undefined {
  const open = allowed.flatMap(({ path, isReadonly }) => (isReadonly ? [] : (realPath(path) ?? [])))
  // Where the whole machine is writable, a link reaches nothing new.
  if (open.includes('/')) return undefined
  return open.find((root) => source !== root && isBelow(source, root))
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
