import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

/**
 * What a folder of jobs is called, so that the server knows which jobs are its own: by the repository it
 * is in, because that has the same name wherever it was checked out. Undefined for anything but one folder.
 */
export function sourceName(paths: readonly string[], cwd: string): string | undefined {
  const [path = '.', second] = paths
  const folder = resolve(cwd, path)
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  if (second !== undefined || !isFolder) return undefined
  const root = repositoryOf(folder)
  if (root === undefined) return basename(folder)
  return join(basename(root), relative(root, folder)).replaceAll('\\', '/')
}

function repositoryOf(folder: string): string | undefined {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
  }
  return undefined
}
