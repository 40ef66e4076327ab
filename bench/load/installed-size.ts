import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Lockfile {
  readonly packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>>
}

/** Disk space of `npm install punctual`: the production dependencies and the package itself. */
export function installedBytes(root: string): number {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const folders = Object.entries(lock.packages)
    .filter(
      ([path, { dev, devOptional }]) => path.startsWith('node_modules/') && !dev && !devOptional,
    )
    .map(([path]) => join(root, path))
    // The lockfile lists builds for other platforms, which npm does not install.
    .filter((folder) => existsSync(folder))
  const own = existsSync(join(root, 'dist')) ? 'dist' : 'src'
  return [...folders, join(root, own)].reduce((sum, folder) => sum + bytesIn(folder), 0)
}

/** Skips nested node_modules: the lockfile lists nested packages separately. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((sum, entry) => {
      const path = join(folder, entry.name)
      return sum + (entry.isDirectory() ? bytesIn(path) : lstatSync(path).size)
    }, 0)
}
