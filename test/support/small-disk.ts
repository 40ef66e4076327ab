import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A file system of a few mebibytes, mounted for one test. */
export interface SmallDisk {
  fill(): void
  free(): void
  unmount(): void
}

/**
 * Mounts one on an empty directory; skips the test and returns undefined where that is not permitted. `owner`
 * owns the directory.
 */
export function mountSmallDisk(
  t: Pick<TestContext, 'skip'>,
  path: string,
  size: string,
  owner?: { readonly uid: number; readonly gid: number },
): SmallDisk | undefined {
  const of = owner ? `,uid=${owner.uid},gid=${owner.gid},mode=700` : ''
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}${of}`, 'tmpfs', path])
  if (status !== 0) {
    t.skip('needs root, to mount a small file system')
    return undefined
  }
  const filler = join(path, 'filler')
  return {
    fill() {
      try {
        writeFileSync(filler, Buffer.alloc(256 * 1024 * 1024))
      } catch {
        // As much as fitted.
      }
    },
    free: () => rmSync(filler),
    unmount: () => void spawnSync('umount', ['-l', path]),
  }
}
